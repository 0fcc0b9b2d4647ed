"""Chapter 07: two ceilings."""

from math import atan2, degrees

from figures import chapter, dot_rows, exhibit, figure, rows_like
from svg import Drawing, Plot, decades, log, short, width


@figure("07-roofline", {
    "title": ("The roofline of this machine, with measured passes", "这台机器的屋顶线和实测的前向计算"),
    "x": ("FLOPs for each byte fetched", "每搬一个字节做多少 FLOPs"),
    "memory": ("memory {bandwidth} GB/s", "内存 {bandwidth} GB/s"),
    "arithmetic": ("arithmetic {peak} GFLOP/s", "算力 {peak} GFLOP/s"),
    "ridge": ("ridge: {ridge}", "屋脊：{ridge}"),
    "one": ("1 token: writing", "1 个 token：写"),
    "item": ("{n} tokens: {intensity} FLOPs a byte, {pace} GFLOP/s",
             "{n} 个 token：每字节 {intensity} FLOPs，{pace} GFLOP/s"),
    "desc": ("The roof rises with memory's {bandwidth} GB/s to the ridge at {ridge} FLOPs a byte, "
             "then is flat at {peak} GFLOP/s. Measured passes: {items}.",
             "屋顶先随内存的 {bandwidth} GB/s 上升，到每字节 {ridge} FLOPs 的屋脊，之后平在 {peak} "
             "GFLOP/s。实测的前向计算：{items}。"),
    "caption": (
        "Dots are measured passes, and the number says how many tokens went through at once. Left "
        "of the ridge a pass waits for memory, right of it for arithmetic. Both axes are "
        "logarithmic.",
        "圆点是实测的前向计算，数字是一次通过多少个 token。屋脊左边等内存，右边等算力。"
        "两根轴都是对数刻度。"),
    "intensity": ("FLOPs a byte", "FLOPs/字节"),
    "pace": ("GFLOP/s", "GFLOP/s"),
})
def roofline(book, say):
    ceilings = chapter(book, "07")["machine"]["ceilings"]
    bandwidth, peak = ceilings["read_bandwidth"] / 1e9, ceilings["multiply_add_peak"] / 1e9
    points = sorted((int(r["tokens"]), r["flops"] / r["bytes"], r["flops"] / r["seconds"] / 1e9)
                    for r in exhibit(book, "07", "roofline"))
    ridge = peak / bandwidth
    low, high = min(points[0][1], ridge) / 2.5, max(points[-1][1], ridge) * 2.5
    floor_, top = 0.7 * min(bandwidth * low, *(p[2] for p in points)), 1.6 * max(
        peak, *(p[2] for p in points))
    d = Drawing(366)
    plot = Plot(d, log(low, high, 54, 392), log(floor_, top, 318, 26), 54, 26, 392, 318)
    plot.axes([t for t in decades(low, high) if low <= t <= high],
              [t for t in decades(floor_, top) if floor_ <= t <= top], say("x"), say("pace"))
    plot.curve([(low, bandwidth * low), (ridge, peak), (high, peak)], "roof")
    plot.curve([(ridge, peak), (ridge, floor_)], "ridge")

    values = {"bandwidth": short(bandwidth), "peak": short(peak), "ridge": short(ridge)}
    x0, y0, x1, y1 = plot.x(low), plot.y(bandwidth * low), plot.x(ridge), plot.y(peak)
    x, y = 0.44 * x0 + 0.56 * x1 - 8, 0.44 * y0 + 0.56 * y1 - 8
    d.text(x, y, say("memory", **values), "", "middle",
           transform=f"rotate({degrees(atan2(y1 - y0, x1 - x0)):.1f} {x:.1f} {y:.1f})")
    plot.label(say("arithmetic", **values), "", (388, y1 - 9, "end"))
    plot.label(say("ridge", **values), "tick", (x1 + 6, 310, "start"), (x1 - 6, 310, "end"))
    for n, intensity, pace in [points[0], points[-1], *points[1:-1]]:
        x, y, one = plot.x(intensity), plot.y(pace), n == 1
        plot.mark("measured", intensity, pace, "write" if one else "read")
        plot.label(say("one") if one else str(n), "strong write" if one else "",
                   (x + 4, y + 19, "start"), (x + 9, y + 5, "start"), (x + 4, y - 9, "start"),
                   (x - 8, y + 5, "end"))
    cells = [(n, short(intensity), short(pace)) for n, intensity, pace in points]
    items = say.each("item", (dict(zip(("n", "intensity", "pace"), cell)) for cell in cells))
    return d, values | {"items": items}, (("tokens", "intensity", "pace"), cells)


@figure("07-pace", {
    "title": ("Predicted and measured pace of models", "各种模型读写的预测与实测"),
    "read": ("reading", "读"),
    "write": ("writing", "写"),
    "one thread": ("1 thread", "单线程"),
    "item": ("{way}, {model}: predicted {predicted}, measured {measured}",
             "{way}，{model}：预测 {predicted}，实测 {measured}"),
    "desc": ("Tokens a second. {items}.", "每秒 token 数。{items}。"),
    "caption": (
        "Tokens a second, on a logarithmic axis. Hollow: predicted. Dot and number: measured. Bar: "
        "from the slowest to the fastest run.",
        "每秒 token 数，对数刻度。空心菱形是预测，圆点和数字是实测，横线从最慢到最快的一次。"),
})
def pace(book, say):
    groups, said = [], []
    for way in ("read", "write"):
        rows = []
        for name, r in rows_like(book, "07", way + r"_(\w+)"):
            model = name.replace("_one_thread", "_" + say("one thread")).replace("_", ", ")
            measured, predicted = r["measured"], r["predicted"]
            rows.append((model, book.number(measured["median"]), (measured["min"], measured["max"]),
                         [("predicted", predicted), ("measured", measured["median"])]))
            said.append({"way": say(way), "model": model, "predicted": book.number(predicted),
                         "measured": book.number(measured["median"])})
        groups.append((say(way), way, rows))
    left = max(width(words) for _, _, rows in groups for words, *_ in rows) + 10
    return dot_rows(groups, say("token/s"), left), {"items": say.each("item", said)}
