"""The figures of chapter 16: many people."""

from figures import dot_rows, exhibit, figure
from svg import Drawing, Plot, linear, log, short, steps, width


@figure("16-load", {
    "title": ("How long 95% wait at most, by how many people ask", "人越多，95% 的人最多等多久"),
    "x": ("people", "人数"),
    "y": ("seconds", "秒"),
    "first": ("first token", "首个 token"),
    "beat": ("beat", "节拍"),
    "people": ("people", "人数"),
    "caption": (
        "An 8B model on one H100, simulated, everyone asking once in {every} seconds. 95% wait "
        "no longer than this. {few} people: first token {few_first}, beat {few_beat}. {most} "
        "people: {most_first} and {most_beat}. The dashed upright line is the most for whom "
        "the promise holds. The scale of seconds is logarithmic.",
        "8B 模型，一块 H100，模拟；每人 {every} 秒问一次。95% 的人等得不比这更久。{few} 人：首个 token "
        "{few_first}，节拍 {few_beat}。{most} 人：{most_first} 和 {most_beat}。竖的虚线是承诺还守得住的"
        "最多人数。纵轴是对数刻度。"),
})
def load(book, say):
    rows = exhibit(book, "16", "curve")
    knee = exhibit(book, "16", "people")[0]["people"]
    every = round(rows[0]["people"] / rows[0]["requests_per_second"])
    values = [r[name] for r in rows for name in ("first_p95", "beat_p95")]
    low, high = 0.7 * min(values), 1.6 * max(*values, 1)
    end = 1.03 * rows[-1]["people"]
    d = Drawing(330)
    plot = Plot(d, linear(0, end, 62, 392), log(low, high, 282, 44), 62, 44, 392, 282)
    ticks = [t for t in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100) if low <= t <= high]
    plot.axes([t for t in steps(end, 4) if t <= end], ticks, say("x"), say("y"), lambda v: f"{v:g}")
    d.legend(32, [("swatch", "bar read", say("first")), ("swatch", "bar write", say("beat"))], x=62)
    if 0 < knee < end:
        plot.curve([(knee, low), (knee, high)], "ridge")
    for name, css in (("first_p95", "read"), ("beat_p95", "write")):
        plot.curve([(r["people"], r[name]) for r in rows], f"{css} measured")
        for r in rows:
            plot.mark("measured", r["people"], r[name], css)
    cells = [(short(r["people"]), book.number(r["first_p95"], "s"), book.number(r["beat_p95"], "s"))
             for r in rows]
    few, most = cells[0], cells[-1]
    return (d, {"every": every, "few": few[0], "few_first": few[1], "few_beat": few[2],
                "most": most[0], "most_first": most[1], "most_beat": most[2]},
            (("people", "first", "beat"), cells))


@figure("16-real", {
    "title": ("Waits at three loads, simulated and measured", "三种负载下的等待，模拟与实测"),
    "first": ("first token", "首个 token"),
    "beat": ("beat", "节拍"),
    "mean": ("{load}, mean", "{load}，平均"),
    "p95": ("{load}, 95% below", "{load}，95% 以内"),
    "axis": ("milliseconds", "毫秒"),
    "item": ("{what}, {row}: simulated {predicted} ms, measured {measured} ms",
             "{what}，{row}：模拟 {predicted} 毫秒，实测 {measured} 毫秒"),
    "row": ("load", "负载"),
    "what": ("wait", "等待"),
    "simulated": ("simulated, ms", "模拟，毫秒"),
    "corrected": ("seconds corrected, ms", "校正后模拟，毫秒"),
    "measured ms": ("measured, ms", "实测，毫秒"),
    "desc": ("{items}.", "{items}。"),
    "caption": (
        "The same requests at the same times, served by the model on this machine (dots and "
        "numbers) and by the simulation with the ledger's seconds (hollow diamonds). The load is "
        "the share of what the machine did when everybody came at once. Logarithmic scale.",
        "同样的请求、同样的时刻：圆点和数字是这台机器上真的模型，空心菱形是用账本秒数的模拟。负载以所有人"
        "同时来时机器的速度为 100%。对数刻度。"),
})
def real(book, say):
    rows = {(r["share"], r["figure"]): r for r in exhibit(book, "16", "loads")}
    groups, said, cells = [], [], []
    for what, css in (("first", "read"), ("beat", "write")):
        lines = []
        for share in sorted({share for share, _ in rows}):
            for stat in ("mean", "p95"):
                r = rows[share, f"{what}_{stat}"]
                name = say(stat, load=f"{100 * share:.0f}%")
                ms = [1e3 * r[key] for key in ("simulated", "corrected", "measured")]
                texts = [book.number(value) for value in ms]
                lines.append((name, texts[2], None,
                              [("predicted", ms[0]), ("measured", ms[2])]))
                said.append({"what": say(what), "row": name, "predicted": texts[0],
                             "measured": texts[2]})
                cells.append((say(what), name, *texts))
        groups.append((say(what), css, lines))
    left = max(width(line[0]) for _, _, lines in groups for line in lines) + 10
    return (dot_rows(groups, say("axis"), left), {"items": say.each("item", said)},
            (("what", "row", "simulated", "corrected", "measured ms"), cells))


@figure("16-thinking", {
    "title": ("How many people fit when some of them think", "有人开推理，还能容下多少人"),
    "share": ("{share} think", "{share} 开推理"),
    "simulated": ("simulated", "模拟"),
    "tokens": ("if only tokens counted", "只算 token 数"),
    "row": ("who thinks", "谁在推理"),
    "people": ("people, simulated", "人数，模拟"),
    "by tokens": ("people, by tokens", "人数，只算 token"),
    "item": ("{share}: {people} people, {tokens} if only tokens counted",
             "{share}：{people} 人，只算 token 数是 {tokens} 人"),
    "desc": ("{items}.", "{items}。"),
    "caption": (
        "People for whom one H100 with an 8B model keeps its promise, by the share of requests "
        "that think first. Outlined: what would fit if 21 times the tokens were all that thinking "
        "takes.",
        "一块 H100 跑 8B 模型，守得住承诺的最多人数，按开推理的请求占多少来分。空心条：假如开推理只是 token "
        "多 21 倍，能容下的人数。"),
})
def thinking(book, say):
    rows = exhibit(book, "16", "thinking")
    none = rows[0]["people"]
    cells = [(say("share", share=f"{100 * r['share']:.0f}%"), r["people"],
              none / (1 + 20 * r["share"])) for r in rows]
    left = max(width(c[0]) for c in cells) + 10
    x = linear(0, max(none, 1), left, 330)
    d = Drawing(40 + 52 * len(cells))
    d.legend(14, [("swatch", "bar write", say("simulated")),
                  ("swatch", "bar open neutral", say("tokens"))])
    for i, (name, people, tokens) in enumerate(cells):
        y = 36 + 52 * i
        d.text(0, y + 25, name)
        d.rect(left, y, x(people) - left, 18, "bar write")
        d.text(x(people) + 6, y + 14, short(people), "strong")
        d.rect(left, y + 21, x(tokens) - left, 14, "bar open neutral")
        d.text(x(tokens) + 6, y + 33, short(tokens), "tick")
    table = [(name, f"{people:,.0f}", f"{tokens:,.0f}") for name, people, tokens in cells]
    items = say.each("item", (dict(zip(("share", "people", "tokens"), c)) for c in table))
    return d, {"items": items}, (("row", "people", "by tokens"), table)
