"""Chapter 06: what one waits for."""

from figures import exhibit, figure, two_curves
from svg import WIDTH, Drawing, linear, short, steps


@figure("06-timeline", {
    "title": ("Three answers on a time line", "三次回答的时间线"),
    "prompt": ("reading the prompt", "读提示（预填充）"),
    "stroke": ("a stroke for each token", "一格一个 token（解码）"),
    "answer": ("{n} in, {m} out", "读 {n}，写 {m}"),
    "item": ("{n} tokens in, {m} out: the first after {first}, all after {total}",
             "读 {n} 个、写 {m} 个：首个 token 等 {first}，全部 {total}"),
    "desc": ("{items}.", "{items}。"),
    "caption": ("Twice the output doubles the strokes. Twice the input widens only the block at "
                "the start.", "输出加倍，格子加倍；输入加倍，变宽的只有开头那一块。"),
    "first token": ("first token", "首个 token 的等待"),
    "total": ("total", "全部"),
    "in, out": ("answer", "回答"),
})
def timeline(book, say, top=30):
    rows = [{"n": short(r["tokens_in"]), "m": int(r["tokens_out"]),
             "first": r["first_token_seconds"], "total": r["total_seconds"]}
            for r in exhibit(book, "06", "timeline")]
    most, bottom = max(r["total"] for r in rows), top + 62 * len(rows)
    ticks = [t for t in steps(most, 4) if t <= most]
    x = linear(0, most, 4, 390)
    d = Drawing(bottom + 46)
    d.legend(14, [("swatch", "bar read", say("prompt")), ("swatch", "bar write", say("stroke"))])
    for t in ticks:
        d.line(x(t), top, x(t), bottom, "grid")
        d.text(x(t), bottom + 18, short(t), "tick", "middle")
    d.text(WIDTH, bottom + 40, say("seconds"), "name", "end")
    for i, r in enumerate(rows):
        y = top + 62 * i
        d.text(0, y + 18, say("answer", **r), "strong")
        d.text(WIDTH, y + 18, book.number(r["total"], "s"), "", "end")
        d.rect(x(0), y + 26, x(r["first"]) - x(0), 24, "bar read")
        d.add("path", d=f"M{x(r['first']):.2f} {y + 38}H{x(r['total']):.2f}",
              class_="strokes write", pathLength=r["m"], stroke_dasharray="0.62 0.38")
    said = [r | {"first": book.number(r["first"], "s"), "total": book.number(r["total"], "s")}
            for r in rows]
    return d, {"items": say.each("item", said)}, (
        ("in, out", "first token", "total"),
        [(say("answer", **r), r["first"], r["total"]) for r in said])


@figure("06-context", {
    "title": ("The beat against the context", "节拍与上下文长度"),
    "x": ("tokens before", "前面的 token 数"),
    "y": ("milliseconds for a token", "每个 token 的毫秒数"),
    "item": ("behind {past} tokens {predicted} ms predicted, {measured} ms measured",
             "前面有 {past} 个 token：预测 {predicted} 毫秒，实测 {measured} 毫秒"),
    "caption": ("Time for one more token: {items}.", "再写一个 token 要多久。{items}。"),
})
def context(book, say):
    rows = sorted(exhibit(book, "06", "context"), key=lambda r: r["past"])
    points = [(r["past"], 1e3 * r["predicted_seconds"], 1e3 * r["measured_seconds"]) for r in rows]
    end = points[-1][0]
    plot = two_curves(say, points, "write", linear(0, end, 66, 380),
                      [t for t in steps(end, 4) if t <= end])
    cells = [(short(n), f"{p:.3g}", f"{m:.3g}") for n, p, m in points]
    items = say.each("item", (dict(zip(("past", "predicted", "measured"), cell))
                              for cell in (cells[0], cells[-1])))
    return plot.d, {"items": items}, (("x", "predicted", "measured"), cells)
