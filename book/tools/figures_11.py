"""The figures of chapter 11: what three ways to answer keep, and for how long."""

from figures import exhibit, figure, note, row
from svg import Drawing, Plot, linear, short, steps

WORDS = {
    "y": ("cache, {unit}", "缓存，{unit}"),
    "x": ("seconds", "秒"),
    "whole": ("all of B", "B 的全程"),
    "start": ("the corner, enlarged", "左下角，放大"),
    "a": ("A answers", "A 直接答"),
    "b": ("B thinks first", "B 先推理"),
    "c": ("C, {copies} copies", "C，{copies} 份"),
    "way": ("way", "答法"),
    "wait": ("wait, s", "等待，秒"),
    "capacity": ("over time", "随时间加总"),
}


def panel(d, top, bottom, x_end, y_end, name, yname, say):
    """A frame from 0 to these ends, with its name above it."""
    xticks, yticks = steps(x_end, 4), steps(y_end, 4)
    plot = Plot(d, linear(0, x_end, 54, 384), linear(0, y_end, bottom, top),
                54, top, 392, bottom)
    for v in yticks:
        if v <= y_end:
            d.line(54, plot.y(v), 392, plot.y(v), "grid")
            d.text(48, plot.y(v) + 5, short(v), "tick", "end")
    for v in xticks:
        if v <= x_end:
            d.line(plot.x(v), bottom, plot.x(v), bottom + 5, "axis")
            d.text(plot.x(v), bottom + 20, short(v), "tick", "middle")
    d.line(54, bottom, 392, bottom, "axis")
    d.text(0, top - 12, yname, "name")
    d.text(392, top - 12, name, "name", "end")
    d.text(392, bottom + 38, say("x"), "name", "end")
    return plot


def area(plot, points, css, end):
    """The area under a curve, and the curve; cut off at the frame's end."""
    seen = [p for p in points if p[0] <= end]
    if len(seen) < len(points):
        (x0, y0), (x1, y1) = seen[-1], points[len(seen)]
        seen.append((end, y0 + (y1 - y0) * (end - x0) / (x1 - x0)))
    line = [(plot.x(x), plot.y(y)) for x, y in seen]
    plot.d.path([(line[0][0], plot.bottom), *line, (line[-1][0], plot.bottom)],
                f"area {css}", close=True)
    plot.d.path(line, f"curve {css}")


def draw(ways, outlines, unit, copies, say):
    """ways: name to (css, points); outlines: (css, points), lines without an area."""
    d = Drawing(478)
    d.legend(14, [("swatch", f"bar {ways[name][0]}", say(name, copies=copies))
                  for name in ("a", "b", "c")])
    ends = {name: points[-1] for name, (_, points) in ways.items()}
    corner_x = 1.12 * max(p[-1][0] for _, p in
                          [ways["a"], ways["c"], *outlines["corner"]])
    corner_y = 1.1 * max(p[-1][1] for _, p in [ways["a"], ways["c"], *outlines["corner"]])
    yname = say("y", unit=unit)
    for name, top, bottom, x_end, y_end in (
            ("whole", 58, 204, 1.03 * ends["b"][0], 1.1 * max(ends["b"][1], corner_y)),
            ("start", 288, 434, corner_x, corner_y)):
        plot = panel(d, top, bottom, x_end, y_end, say(name), yname, say)
        for way in ("b", "c", "a"):
            area(plot, ways[way][1], ways[way][0], x_end)
        for css, points in outlines["both" if name == "whole" else "corner"]:
            plot.curve([p for p in points if p[0] <= x_end], css)
    return d


def series(rows, way, x, y):
    return [(r[x], r[y]) for r in rows if r["way"] == way]


@figure("11-course", WORDS | {
    "title": ("The KV cache over time, three ways: the course's machine",
              "三种答法的 KV 缓存随时间变化：课程的机器"),
    "shared": ("C, one prompt for all", "C，共用提示词"),
    "cache": ("at the end, GB", "最后，GB"),
    "caption": (
        "What the bill does not show: the cache, for as long as it is kept. A's area is {a}, B's "
        "{b}, C's {c}, with one prompt for all copies. The dashed line counts a prompt for each: "
        "{apart}. Below, the lower left corner of the picture above.",
        "账单上看不见的东西：缓存有多大，占了多久。A 的面积是 {a}，B 是 {b}，C 是 {c}，几份共用一个提示词；"
        "虚线是每份各算一遍提示词：{apart}。下面那幅是上面那幅的左下角。"),
})
def course(book, say):
    rows = exhibit(book, "11", "course")
    points = {way: series(rows, way, "seconds", "gigabytes") for way in ("a", "b", "c", "shared")}
    ways = {"a": ("read", points["a"]), "b": ("write", points["b"]),
            "c": ("other", points["shared"])}
    apart = [("other dashed", points["c"])]
    copies = round((points["c"][0][1]) / points["a"][0][1])
    d = draw(ways, {"both": apart, "corner": apart}, "GB", copies, say)
    sums = {"a": "capacity_abc_a_summed", "b": "capacity_abc_b_summed",
            "c": "capacity_abc_c_shared_summed", "apart": "capacity_abc_c_summed"}
    values = {key: book.number(note(book, "11", id), "GB·s") for key, id in sums.items()}
    cells = [(say(name, copies=copies), f"{p[-1][0]:.3g}", f"{p[-1][1]:.3g}", values[key])
             for name, key, p in (("a", "a", points["a"]), ("b", "b", points["b"]),
                                  ("c", "apart", points["c"]),
                                  ("shared", "c", points["shared"]))]
    return d, values, (("way", "wait", "cache", "capacity"), cells)


@figure("11-real", WORDS | {
    "title": ("The KV cache over time, three ways: GPT-2 small's shape, measured",
              "三种答法的 KV 缓存随时间变化：GPT-2 small 的形状，实测"),
    "cache": ("at the end, MB", "最后，MB"),
    "caption": (
        "The same on this machine. Areas: one measured run of each; by the median of all runs "
        "they are {a}, {b} and {c}. Dashed: what the ledger had predicted. Each begins level, "
        "with the pass that reads the prompt.",
        "在这台机器上再来一遍。面积各是一次实测；按所有次数的中位数，分别是 {a}、{b} 和 {c}。虚线是账本的预测。"
        "开头那一小段平的，是读提示词的那一趟。"),
})
def real(book, say):
    rows = exhibit(book, "11", "growth")
    colours = {"a": "read", "b": "write", "c": "other"}
    ways, predicted = {}, {}
    for way, css in colours.items():
        ways[way] = css, series(rows, f"real_{way}", "measured_seconds", "megabytes")
        predicted[way] = (f"{css} dashed",
                          series(rows, f"real_{way}", "predicted_seconds", "megabytes"))
    gained = [(p[-1][1] - p[0][1]) for _, p in (ways["c"], ways["a"])]
    copies = round(gained[0] / gained[1])
    d = draw(ways, {"both": predicted.values(), "corner": [predicted["a"], predicted["c"]]},
             "MB", copies, say)
    values = {way: book.number(row(book, "11", f"real_{way}_capacity")["measured"]["median"],
                               "MB·s") for way in colours}
    cells = [(say(way, copies=copies), f"{points[-1][0]:.3g}", f"{points[-1][1]:.3g}",
              values[way]) for way, (_, points) in ways.items()]
    return d, values, (("way", "wait", "cache", "capacity"), cells)
