"""The figures of chapter 10: what a batch does to the list, and the bill of an agent."""

from figures import exhibit, figure, note
from svg import Drawing, Plot, linear, log, log_axis, short, steps


@figure("10-together", {
    "title": ("What a token out costs over one in, by how many are served together",
              "一批里的人数，与写的价是读的几倍"),
    "x": ("served together", "一批里的人数"),
    "y": ("out over in, times", "写的价是读的几倍"),
    "here": ("{dtype}, here", "{dtype}，这台机器"),
    "h100": ("8B on an H100", "8B，H100"),
    "list": ("the list: {ratio}", "价目表：{ratio}"),
    "machine": ("machine", "机器"),
    "people": ("together", "人数"),
    "predicted": ("predicted", "预测"),
    "item": ("{which}: {alone} alone, {most} with {people} together",
             "{which}：一个人 {alone} 倍，{people} 个人 {most} 倍"),
    "caption": (
        "Alone, a token out pays for the whole trip of the weights. Together the trip is shared "
        "and the ratio falls, through the list's {ratio} and beyond. Dots are measured; the "
        "dashed lines are the ledger's, the H100's too. {items}. Both axes are logarithmic.",
        "一个人用，写一个 token 要付权重那一整趟的钱。人多了这一趟分摊，倍数往下掉，穿过价目表的 {ratio} 倍还往下。"
        "圆点是实测，虚线是账本算的，H100 那条也是。{items}。两根轴都是对数刻度。"),
})
def together(book, say):
    rows = exhibit(book, "10", "together")
    names = list(dict.fromkeys(r["dtype"] for r in rows))
    large = exhibit(book, "10", "elsewhere")
    ratio = note(book, "10", "price_ratio")
    curves = [(say("here", dtype=name), css,
               [(r["together"], r["predicted"], r["measured"]) for r in rows if r["dtype"] == name])
              for name, css in zip(names, ("write", "read"))]
    curves.append((say("h100"), "other", [(r["together"], r["ratio"], None) for r in large]))
    values = [v for _, _, points in curves for p in points for v in p[1:] if v] + [ratio]
    x, xticks = log_axis([p[0] for _, _, points in curves for p in points], 54, 388)
    low, high = 0.8 * min(values), 1.25 * max(values)
    d = Drawing(340)
    plot = Plot(d, x, log(low, high, 290, 62), 54, 62, 392, 290)
    plot.axes(xticks, [t for t in (1, 2, 5, 10, 20, 50, 100, 200, 500) if low <= t <= high],
              say("x"), say("y"))
    d.legend(32, [("predicted" if css == "other" else "measured", css, name)
                  for name, css, _ in curves])
    plot.curve([(1, ratio), (max(p[0] for _, _, points in curves for p in points), ratio)], "ridge")
    plot.label(say("list", ratio=short(ratio)), "name",
               (392, plot.y(ratio) - 6, "end"), (60, plot.y(ratio) + 16, "start"))
    cells, said = [], []
    for name, css, points in curves:
        plot.curve([(p[0], p[1]) for p in points], f"{css} predicted")
        for n, predicted, measured in points:
            plot.mark("measured" if measured else "predicted", n, measured or predicted, css)
            cells.append((name, short(n), book.number(predicted),
                          book.number(measured) if measured else "–"))
        first, last = points[0], points[-1]
        said.append({"which": name, "alone": book.number(first[2] or first[1]),
                     "people": short(last[0]), "most": book.number(last[2] or last[1])})
    return (d, {"ratio": short(ratio), "items": say.each("item", said)},
            (("machine", "people", "predicted", "measured"), cells))


@figure("10-agent", {
    "title": ("The bill of an agent, round by round", "智能体的账单，一轮一轮看"),
    "x": ("round", "轮"),
    "y": ("cents", "美分"),
    "saved": ("saved by keeping", "留着省下的"),
    "known": ("known", "缓存输入"),
    "fresh": ("new", "新读的"),
    "output": ("written", "写的"),
    "round": ("round", "轮"),
    "without": ("nothing kept, cents", "什么都不留，美分"),
    "desc": ("Each round's bill as a bar: written, new, known, and what keeping saved. {caption}",
             "每一轮的账单画成一根柱子：写的、新读的、缓存输入，和留着省下的。{caption}"),
    "caption": (
        "What one agent pays, round by round, on the list of October 2026. With nothing kept the "
        "bar is as high as its outline: {without} cents in {rounds} rounds. With the record kept "
        "only the filled parts are paid: {written} cents for what is written, {fresh} for what is "
        "new, {known} for what is known, {all} in all.",
        "一个智能体每一轮付的钱，按 2026 年 10 月的价目表。什么都不留，柱子连空心的部分一起付：{rounds} 轮 {without} 美分。"
        "留着记录，只付实心的：写的 {written} 美分，新读的 {fresh} 美分，缓存输入 {known} 美分，一共 {all} 美分。"),
})
def agent(book, say):
    rows = [{key: value if key == "round" else 100 * value for key, value in r.items()}
            for r in exhibit(book, "10", "agent")]
    count = len(rows)
    total = {name: sum(r[name] for r in rows)
             for name in ("input_without", "fresh", "known", "output")}
    yticks = steps(1.05 * max(r["input_without"] + r["output"] for r in rows), 4)
    d = Drawing(330)
    plot = Plot(d, linear(0.4, count + 0.6, 54, 392), linear(0, yticks[-1], 282, 72),
                54, 72, 392, 282)
    plot.axes([k for k in range(1, count + 1) if k == 1 or k % 5 == 0], yticks, say("x"), say("y"))
    kinds = (("output", "bar write"), ("fresh", "bar read"), ("known", "bar other"))
    d.legend(36, [("swatch", css, say(name)) for name, css in kinds], x=54)
    d.legend(58, [("swatch", "bar open neutral", say("saved"))], x=54)
    wide = 0.72 * (plot.x(2) - plot.x(1))
    for r in rows:
        left, top = plot.x(r["round"]) - wide / 2, plot.y(r["input_without"] + r["output"])
        d.rect(left, top, wide, plot.bottom - top, "bar open neutral")
        base = 0
        for name, css in kinds:
            d.rect(left, plot.y(base + r[name]), wide, plot.y(base) - plot.y(base + r[name]), css)
            base += r[name]
    values = {"rounds": count, "without": book.number(total["input_without"] + total["output"]),
              "written": book.number(total["output"]), "fresh": book.number(total["fresh"]),
              "known": book.number(total["known"]),
              "all": book.number(total["fresh"] + total["known"] + total["output"])}
    values["caption"] = say("caption", **values)
    cells = [(int(r["round"]), *(f"{v:.3g}" for v in (
        r["output"], r["fresh"], r["known"], r["input_without"] + r["output"]))) for r in rows]
    return d, values, (("round", "output", "fresh", "known", "without"), cells)
