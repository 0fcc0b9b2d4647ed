"""The figures of chapter 14: guesses kept along a sentence, and speed-up against guesses."""

from figures import exhibit, figure, predicted_measured, shown, spelled
from svg import Drawing, Plot, linear, log

DRAFTS = (("itself", "read"), ("draft", "write"), ("lookup", "other"), ("bad", "neutral"))
ADAPTED = 0  # a number of guesses that changes


@figure("14-along", {
    "title": ("The target's certainty and the guesses kept, along a sentence",
              "沿着一句话：大模型有多大把握，小模型的猜测留下多少"),
    "first": ("target: first candidate", "大模型：头名的概率"),
    "kept": ("draft: guess kept", "小模型：猜测留下的机会"),
    "agree": ("same first candidate", "两边头名相同"),
    "piece": ("token", "token"),
    "first %": ("first candidate, %", "头名，%"),
    "kept %": ("kept, %", "留下，%"),
    "same": ("same first", "头名相同"),
    "yes": ("yes", "是"),
    "no": ("no", "否"),
    "caption": (
        "At each token of “{text}”: the probability of the target's first candidate (open bar), "
        "and the chance that a guess drawn by the draft is kept (filled). Dots: both have the "
        "same first candidate, so a greedy guess is kept; {agree} of {count}. Guesses are drawn from "
        "the best 40 candidates. Most certain at "
        "“{sure}”, {sure_first}%: {sure_kept}% kept. Least certain at “{lost}”, {lost_first}%: "
        "{lost_kept}% kept.",
        "“{text}”里的每个 token：空心条是大模型头名的概率，实心条是小模型抽出来的猜测留下的机会。圆点：两边头名"
        "相同，取头名的话猜测就留下，{count} 处里有 {agree} 处。抽签只在前 40 名里抽。大模型最有把握的是“{sure}”，{sure_first}%，"
        "猜测留下 {sure_kept}%；最没把握的是“{lost}”，{lost_first}%，留下 {lost_kept}%。"),
})
def along(book, say):
    rows = exhibit(book, "14", "along")
    step, top, left, right = 20, 62, 104, 374
    d = Drawing(top + step * len(rows) + 30)
    x = linear(0, 100, left, right)
    bottom = top + step * len(rows)
    d.legend(16, [("swatch", "bar open read", say("first"))])
    d.legend(40, [("swatch", "bar write", say("kept")), ("measured", "neutral", say("agree"))])
    for percent in (0, 25, 50, 75, 100):
        d.line(x(percent), top - 4, x(percent), bottom, "grid")
        d.text(x(percent), bottom + 20, f"{percent}%", "tick", "middle")
    for i, r in enumerate(rows):
        y = top + step * i
        d.text(left - 8, y + 13, shown(r["piece"]), "code", "end")
        d.rect(left, y + 2, x(r["percent_first"]) - left, 13, "bar open read")
        d.rect(left, y + 5, x(r["percent_kept"]) - left, 7, "bar write")
        if r["agree"]:
            d.mark("measured", 390, y + 9, "neutral")
    cells = [(shown(r["piece"]), f"{r['percent_first']:.1f}", f"{r['percent_kept']:.1f}",
              say("yes" if r["agree"] else "no")) for r in rows]
    sure = max(rows, key=lambda r: r["percent_first"])
    lost = min(rows, key=lambda r: r["percent_first"])
    values = {"text": spelled([r["piece"] for r in rows]), "count": len(rows),
              "agree": sum(int(r["agree"]) for r in rows)}
    for name, r in (("sure", sure), ("lost", lost)):
        values |= {name: shown(r["piece"]), f"{name}_first": f"{r['percent_first']:.0f}",
                   f"{name}_kept": f"{r['percent_kept']:.0f}"}
    return d, values, (("piece", "first %", "kept %", "same"), cells)


@figure("14-speed", {
    "title": ("Speed-up against guesses a trip, for each draft", "每趟猜几个，快几倍：四种草稿"),
    "predictable": ("predictable text: times plain decoding", "好猜的文字：是平常解码的几倍"),
    "surprising": ("surprising text: times plain decoding", "难猜的文字：是平常解码的几倍"),
    "x": ("guesses a trip", "每趟猜几个"),
    "itself": ("the narrow model", "没加宽的模型"),
    "draft": ("story-draft", "story-draft"),
    "lookup": ("look-up", "查提示词"),
    "bad": ("shifted", "错一位"),
    "guesses": ("guesses", "猜几个"),
    "item": ("{draft}, {k}: predicted {predicted}, measured {measured}",
             "{draft}，猜 {k} 个：预测 {predicted}，实测 {measured}"),
    "desc": ("Times plain decoding, predictable text. {items}.", "好猜的文字，是平常解码的几倍。{items}。"),
    "caption": (
        "Dashed and hollow: what the ledger makes of the guesses that were kept. Dots: measured. "
        "Above the line at 1 speculation pays. On the predictable text every number of guesses is "
        "counted. Below, the surprising text, as far as it was timed. The upright scales are "
        "logarithmic.",
        "虚线和空心：按留下的猜测，账本算出来的。圆点：实测。在 1 那条线以上才划算。好猜的文字，猜几个都数过；"
        "下面是难猜的文字，只画计了时的。纵轴是对数刻度。"),
})
def speed(book, say):
    timed = [r for r in exhibit(book, "14", "timed") if r["guesses"] != ADAPTED]
    counted = exhibit(book, "14", "counted")
    values = [r[name] for r in timed for name in ("predicted", "measured")]
    values += [r["predicted"] for r in counted]
    low, high = 0.85 * min(values), 1.15 * max(values)
    most = max(r["guesses"] for r in counted)
    d = Drawing(600)
    d.legend(16, [("swatch", f"bar {css}", say(name)) for name, css in DRAFTS[:2]])
    d.legend(40, [("swatch", f"bar {css}", say(name)) for name, css in DRAFTS[2:]])
    d.legend(64, predicted_measured(say, "neutral"))
    x = linear(0.5, most + 0.5, 46, 392)
    for text, top, bottom in (("predictable", 110, 306), ("surprising", 362, 558)):
        plot = Plot(d, x, log(low, high, bottom, top), 46, top, 392, bottom)
        ticks = [t for t in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if low <= t <= high]
        for t in ticks:
            d.line(46, plot.y(t), 392, plot.y(t), "one" if t == 1 else "grid")
            d.text(40, plot.y(t) + 5, f"{t:g}", "tick", "end")
        for k in (1, 2, 4, 8, 12, 16, 24, 32, 48, 64):
            if k <= most:
                d.line(x(k), bottom, x(k), bottom + 5, "axis")
                d.text(x(k), bottom + 20, str(k), "tick", "middle")
        d.line(46, bottom, 392, bottom, "axis")
        d.text(0, top - 12, say(text), "name")
        for name, css in DRAFTS:
            marks = [r for r in timed if r["text"] == text and r["draft"] == name]
            line = marks if text == "surprising" else [r for r in counted if r["draft"] == name]
            if len(line) > 1:
                plot.curve([(r["guesses"], r["predicted"]) for r in line], f"{css} predicted")
            for r in marks:
                plot.mark("predicted", r["guesses"], r["predicted"], css)
                plot.mark("measured", r["guesses"], r["measured"], css)
    d.text(392, 596, say("x"), "name", "end")
    cells, items = {}, []
    for r in timed:
        if r["text"] != "predictable":
            continue
        k, both = int(r["guesses"]), (f"{r['predicted']:.2f}", f"{r['measured']:.2f}")
        cells.setdefault(k, {})[r["draft"]] = f"{both[1]} ({both[0]})"
        items.append({"draft": say(r["draft"]), "k": k, "predicted": both[0],
                      "measured": both[1]})
    names = [name for name, _ in DRAFTS]
    table = [(k, *(row.get(name, "") for name in names)) for k, row in sorted(cells.items())]
    return d, {"items": say.each("item", items)}, (("guesses", *names), table)
