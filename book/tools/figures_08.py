"""Chapter 08: how a batch's beat and its rate meet the knee, and what runs out first."""

from figures import exhibit, figure, note, predicted_measured
from svg import Drawing, Plot, decades, log, short


def upright(values, bottom, top):
    """A logarithmic scale that rises, and its ticks: 1, 2, 5 where they have room."""
    low, high = 0.8 * min(values), 1.25 * max(values)
    at = log(low, high, bottom, top)
    powers = [t for t in decades(low / 10, high) if t <= high]
    fine = [m * t for t in powers for m in (1, 2, 5) if low <= m * t <= high]
    close = min((at(a) - at(b) for a, b in zip(fine, fine[1:])), default=99) < 20
    return at, [t for t in powers if t >= low] if close else fine


@figure("08-knee", {
    "title": ("One answer's beat, and all tokens a second, against sequences in a batch",
              "一批里的序列数，与每份答案的节拍、合计的速度"),
    "beat": ("one answer: milliseconds a token", "每一份答案：每个 token 的毫秒数"),
    "rate": ("all together: tokens a second", "合计：每秒 token 数"),
    "x": ("sequences in the batch", "一批里的序列数"),
    "sequences": ("sequences", "序列数"),
    "milliseconds": ("ms a token", "毫秒/token"),
    "all": ("all, token/s", "合计 token/秒"),
    "knee": ("knee: {knee}", "拐点：{knee}"),
    "item": ("{n} together {beat} ms each, {rate} token/s in all",
             "{n} 条时每份 {beat} 毫秒，合计每秒 {rate} 个"),
    "caption": (
        "Left of the knee, at {knee} sequences, the weights' trip is all there is to wait for, and "
        "a second sequence rides along. Right of it each one adds its arithmetic: the beat grows, "
        "the sum does not. Measured: {items}. All axes are logarithmic.",
        "拐点在 {knee} 条。拐点左边，等的只是权重那一趟，多一条就多捎一条；右边，每多一条都要多算一份：节拍变慢，合计不再涨。"
        "实测：{items}。轴都是对数刻度。"),
})
def knee(book, say):
    rows = sorted(exhibit(book, "08", "knee"), key=lambda r: r["sequences"])
    points = [(int(r["sequences"]), 1e3 * r["predicted_seconds"], 1e3 * r["measured_seconds"])
              for r in rows]
    rates = [(n, 1e3 * n / p, 1e3 * n / m) for n, p, m in points]
    at = note(book, "08", "knee_at")
    values = {"knee": short(at)}
    sizes = [p[0] for p in points]
    x = log(min(sizes), max(*sizes, 1.1 * at), 60, 384)
    d = Drawing(520)
    d.legend(36, predicted_measured(say, "write"))
    for name, series, top, bottom in (("beat", points, 78, 248), ("rate", rates, 310, 476)):
        y, yticks = upright([v for p in series for v in p[1:]], bottom, top)
        plot = Plot(d, x, y, 54, top, 392, bottom)
        for v in yticks:
            d.line(54, y(v), 392, y(v), "grid")
            d.text(48, y(v) + 5, short(v), "tick", "end")
        for n in sizes:
            d.line(x(n), bottom, x(n), bottom + 5, "axis")
            d.text(x(n), bottom + 20, str(n), "tick", "middle")
        d.line(54, bottom, 392, bottom, "axis")
        d.text(0, top - 16, say(name), "name")
        d.path([(x(at), top), (x(at), bottom)], "curve ridge")
        for shape, i in (("predicted", 1), ("measured", 2)):
            plot.curve([(p[0], p[i]) for p in series], f"write {shape}")
            for p in series:
                plot.mark(shape, p[0], p[i], "write")
        if name == "beat":
            plot.label(say("knee", **values), "strong", (x(at) - 6, top + 14, "end"),
                       (x(at) + 6, bottom - 8, "start"))
    d.text(392, 516, say("x"), "name", "end")
    cells = [(n, f"{m:.3g}", short(rate[2])) for (n, _, m), rate in zip(points, rates)]
    items = say.each("item", (dict(zip(("n", "beat", "rate"), cell))
                              for cell in (cells[0], cells[-1])))
    return d, values | {"items": items}, (("sequences", "milliseconds", "all"), cells)


@figure("08-first", {
    "title": ("What runs out first, against the tokens that each sequence keeps",
              "先用完的是哪一样，与每条序列记住多少 token"),
    "x": ("tokens in each cache", "每个缓存里的 token 数"),
    "y": ("sequences at once", "同时写的序列数"),
    "fit": ("caches that fit", "装得下的缓存"),
    "knee": ("the knee", "拐点"),
    "rented": ("8B model, 80 GB", "8B 模型，80 GB"),
    "here": ("GPT-2, here", "GPT-2，这台机器"),
    "tokens": ("tokens each", "每条的 token 数"),
    "sequences": ("8B: fit", "8B：装得下"),
    "caption": (
        "Falling lines: as many caches fit into memory. Level lines, dashed: at as many sequences "
        "arithmetic takes over. The lower of the two is what runs out first. For the 8B model it is "
        "arithmetic up to {even} tokens each, then memory. Of GPT-2's longest caches this machine "
        "holds {fit}, and arithmetic takes over at {knee_here}.",
        "往下走的线：内存装得下多少个缓存。平的虚线：到多少条，算力就顶上来了。两条里低的那条先用完。"
        "8B 模型在每条 {even} 个 token 以内，先用完的是算力，再长就是内存。"
        "GPT-2 写满的缓存，这台机器装得下 {fit} 个，而算力到 {knee_here} 条就顶上来了。"),
})
def first(book, say):
    rows = exhibit(book, "08", "fit")
    even, at = note(book, "08", "even_rented"), note(book, "08", "knee_rented")
    series = {name: [(r["tokens"], r["sequences"], r["knee"]) for r in rows
                     if r["server"] == name and r["sequences"] >= 1]
              for name in ("rented", "here")}
    low = min(p[0] for line in series.values() for p in line)
    high = max(p[0] for line in series.values() for p in line)
    values = [v for line in series.values() for p in line for v in p[1:]]
    d = Drawing(350)
    x, (y, yticks) = log(low, high, 60, 384), upright(values, 298, 52)
    plot = Plot(d, x, y, 54, 52, 392, 298)
    plot.axes([t for t in decades(low, high) if low <= t <= high], yticks, say("x"), say("y"))
    d.legend(36, [("swatch", "bar write", say("rented")), ("swatch", "bar other", say("here"))])
    for name, css in (("rented", "write"), ("here", "other")):
        line = series[name]
        if not line:
            continue
        plot.curve([(tokens, fit) for tokens, fit, _ in line], css)
        plot.curve([(line[0][0], line[0][2]), (line[-1][0], line[0][2])], f"{css} dashed")
    plot.mark("measured", even, at, "write")
    plot.label(short(even), "strong", (x(even) + 8, y(at) - 8, "start"))
    middle = series["rented"][len(series["rented"]) * 3 // 4]
    plot.label(say("fit"), "write", (x(middle[0]) - 8, y(middle[1]) + 16, "end"),
               (x(middle[0]) + 8, y(middle[1]) - 6, "start"))
    plot.label(say("knee"), "write", (x(high) - 4, y(at) - 8, "end"))
    cells = [(short(tokens), short(fit)) for tokens, fit, _ in series["rented"]]
    values = {"even": short(even), "fit": short(note(book, "08", "fit_here")),
              "knee_here": short(note(book, "08", "knee_at"))}
    return d, values, (("tokens", "sequences"), cells)
