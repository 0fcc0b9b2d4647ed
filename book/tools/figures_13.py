"""The figures of chapter 13: what models have cost after so many uses."""

from math import log10

from figures import exhibit, figure, row
from svg import Drawing, Plot, decades, linear, log, short, steps, width

SUPER = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@figure("13-lives", {
    "title": ("What each model has cost, against how often it was used", "每个模型一共花了多少，与用了多少次"),
    "x": ("uses", "用了多少次"),
    "y": ("cost so far", "到现在花了多少"),
    "large": ("large, from {once}", "大模型，从 {once} 起"),
    "small": ("small, from {once}", "小模型，从 {once} 起"),
    "uses": ("uses", "次数"),
    "large cost": ("large", "大模型"),
    "small cost": ("small", "小模型"),
    "dearer cost": ("small, dearer", "小模型，更贵的"),
    "caption": (
        "Training is where a line begins, a use is how steeply it rises. The small model that cost "
        "{small} to train meets the large one after {even} uses, the one that cost {dearer} after "
        "{later}. The unit of cost is yours to choose.",
        "线从训练的钱出发，用一次的钱是它的坡度。训练花了 {small} 的小模型，用到 {even} 次追上大模型；"
        "训练花了 {dearer} 的，要用到 {later} 次。钱的单位随你挑。"),
})
def lives(book, say):
    rows = exhibit(book, "13", "lives")
    start, end = rows[0], rows[-1]
    yticks = steps(max(end[k] for k in ("large", "small", "dearer")), 5)
    d = Drawing(330)
    plot = Plot(d, linear(0, end["uses"], 54, 388), linear(0, yticks[-1], 282, 30), 54, 30, 392, 282)
    plot.axes([t for t in steps(end["uses"], 5) if t <= end["uses"]], yticks, say("x"), say("y"))
    for who, css in (("large", "write"), ("small", "read"), ("dearer", "read dashed")):
        plot.curve([(r["uses"], r[who]) for r in (start, end)], css)
    meets = [(row(book, "13", name)["predicted"], who)
             for name, who in (("break_even", "small"), ("q4", "dearer"))]
    for uses, _ in meets:
        cost = start["large"] + uses * (end["large"] - start["large"]) / end["uses"]
        d.path([(plot.x(uses), plot.y(cost)), (plot.x(uses), 282)], "curve ridge")
        plot.mark("predicted", uses, cost, "neutral")

    def beside(who, share, css, drop, anchor):
        at = share * end["uses"]
        cost = start[who] + share * (end[who] - start[who])
        words = say("large" if who == "large" else "small", once=short(start[who]))
        d.text(plot.x(at), plot.y(cost) + drop, words, css + " strong", anchor)
    # Lines rise: above one there is room to the left, below it to the right.
    beside("large", 0.9, "write", -4, "end")
    beside("small", 0.5, "read", 20, "start")
    beside("dearer", 0.5, "read", -8, "end")
    return d, {"small": short(start["small"]), "dearer": short(start["dearer"]),
               "even": short(meets[0][0]), "later": short(meets[1][0])}, (
        ("uses", "large cost", "small cost", "dearer cost"),
        [tuple(short(r[k]) for k in ("uses", "large", "small", "dearer")) for r in rows[::5]])


@figure("13-machine", {
    "title": ("Hours of this machine, against tokens written: training and serving",
              "这台机器花掉的小时数，与写出的 token 数：训练加服务"),
    "x": ("million tokens written", "写出的 token，百万"),
    "y": ("hours of this machine", "这台机器的小时数"),
    "alone": ("one text at a time", "一次写一份"),
    "together": ("in a batch", "成批地写"),
    "large": ("large", "大"),
    "small": ("small", "小"),
    "who": ("model", "模型"),
    "hours": ("training, h", "训练，小时"),
    "token": ("a token, µs", "每个 token，微秒"),
    "predicted": ("predicted, µs", "预测，微秒"),
    "large alone": ("large, alone", "大，一份"),
    "small alone": ("small, alone", "小，一份"),
    "large together": ("large, in a batch", "大，成批"),
    "small together": ("small, in a batch", "小，成批"),
    "caption": (
        "The shipped pair, the small one given ten times its training. Solid lines: one text at a "
        "time; they meet at {alone} million tokens. Dashed: in a batch, where a token is cheaper "
        "for both; they meet at {together} million. Measured slopes, recorded training.",
        "项目自带的一对，小的按十倍训练算。实线：一次写一份，在 {alone_zh} 万个 token 处相交。"
        "虚线：成批地写，两边的 token 都便宜了，到 {together_zh} 万才相交。坡度是实测的，训练时间是记录下来的。"),
})
def machine(book, say):
    rows = {r["who"]: r for r in exhibit(book, "13", "machine")}
    meets = {how: row(book, "13", f"even_{how}")["measured"]["median"]
             for how in ("alone", "together")}
    end = 1.35e-6 * max(meets.values())
    def hours(who, millions):
        return (rows[who]["once"] + 1e6 * millions * rows[who]["use"]) / 3600

    # The steep ones leave the picture at the top.
    top = steps(1.6 * hours("large_together", 1e-6 * meets["together"]), 5)
    d = Drawing(340)
    plot = Plot(d, linear(0, end, 54, 388), linear(0, top[-1], 292, 56), 54, 56, 392, 292)
    plot.axes([t for t in steps(end, 5) if t <= end], top, say("x"), say("y"))
    d.path([(54, 32), (78, 32)], "curve neutral")
    d.text(84, 37, say("alone"))
    left = 104 + width(say("alone"))
    d.path([(left, 32), (left + 24, 32)], "curve neutral dashed")
    d.text(left + 30, 37, say("together"))
    for how, dash in (("alone", ""), ("together", " dashed")):
        for who, css in (("large", "write"), ("small", "read")):
            name = f"{who}_{how}"
            last = min(end, (top[-1] - hours(name, 0)) / (hours(name, 1) - hours(name, 0)))
            plot.curve([(0, hours(name, 0)), (last, hours(name, last))], css + dash)
        at = 1e-6 * meets[how]
        plot.mark("measured", at, hours(f"large_{how}", at), "neutral")
    d.text(60, plot.y(hours("large_alone", 0)) + 20, say("large"), "write strong")
    d.text(60, plot.y(hours("small_alone", 0)) - 12, say("small"), "read strong")
    values = {how: short(1e-6 * at) for how, at in meets.items()}
    values |= {f"{how}_zh": short(1e-4 * at) for how, at in meets.items()}
    return d, values, (
        ("who", "hours", "token", "predicted"),
        [(say(who.replace("_", " ")), f"{r['once'] / 3600:.3g}", f"{1e6 * r['use']:.3g}",
          f"{1e6 * r['predicted_use']:.3g}") for who, r in rows.items()])


def power(value):
    return "10" + str(round(log10(value))).translate(SUPER)


@figure("13-pairs", {
    "title": ("FLOPs of a small model's life over a large one's, against tokens served",
              "小模型一辈子的 FLOPs 是大模型的几倍，与服务的 token 数"),
    "x": ("tokens read and written in its life", "一辈子读写的 token 数"),
    "y": ("small over large, all FLOPs", "小的花的 FLOPs 是大的几倍"),
    "pair": ("pair", "一对"),
    "train small": ("training, small", "训练，小"),
    "train large": ("training, large", "训练，大"),
    "even": ("even after, tokens", "打平，token"),
    "at once": ("at once", "一开始"),
    "item": ("{pair} at {even}", "{pair} 在 {even}"),
    "caption": (
        "Above the line at 1 the large model is cheaper so far, below it the small one. They are "
        "even at the marks: {items} tokens. Read the labels as small / large. The axis below is "
        "logarithmic.",
        "在 1 那条线上面，到这时候大模型便宜；在下面，小模型便宜。打平的地方有记号：{items} 个 token。"
        "标签都是“小 / 大”。横轴是对数刻度。"),
})
def public(book, say):
    rows = exhibit(book, "13", "pairs")
    low, high = 1e9, 1e15

    def ratio(r, n):
        return (r["small_once"] + n * r["small_use"]) / (r["large_once"] + n * r["large_use"])
    top = max(1.25, *(1.05 * ratio(r, low) for r in rows))
    head = 30 + 20 * len(rows)
    bottom = head + 290
    d = Drawing(bottom + 48)
    plot = Plot(d, log(low, high, 54, 372), linear(0, top, bottom, head), 54, head, 376, bottom)
    for v in (t for t in steps(top, 5) if t <= top):
        d.line(54, plot.y(v), 376, plot.y(v), "one" if v == 1 else "grid")
        d.text(48, plot.y(v) + 5, f"{v:g}", "tick", "end")
    for n in decades(low, high):
        d.line(plot.x(n), bottom, plot.x(n), bottom + 5, "axis")
        d.text(plot.x(n), bottom + 20, power(n), "tick", "middle")
    d.line(54, bottom, 376, bottom, "axis")
    d.text(0, 13, say("y"), "name")
    d.text(400, bottom + 40, say("x"), "name", "end")
    named = list(zip("abcdefgh", rows, ("write", "read", "other", "neutral") * 2))
    for i, (letter, r, css) in enumerate(named):
        y = 36 + 20 * i
        d.path([(54, y - 5), (78, y - 5)], "curve " + css)
        d.text(84, y, f"{letter}  {r['small']} / {r['large']}")
        points = [low * (high / low) ** (k / 60) for k in range(61)]
        plot.curve([(n, ratio(r, n)) for n in points], css)
        if r["even"] > 0:
            plot.mark("measured", r["even"], 1, css)
    # Letters where the curves end, the lowest first, none upon another.
    free = bottom
    for letter, r, css in sorted(named, key=lambda one: ratio(one[1], high)):
        y = min(plot.y(ratio(r, high)) + 5, free)
        d.text(378, y, letter, "strong")
        free = y - 15
    crossing = [r for r in rows if r["even"] > 0]
    return d, {"items": say.each("item", ({"pair": f"{r['small']} / {r['large']}",
                                           "even": f"{r['even'] / 1e9:,.0f} × 10⁹"}
                                          for r in crossing))}, (
        ("pair", "train small", "train large", "even"),
        [(f"{r['small']} / {r['large']}", f"{r['small_once']:.3g}", f"{r['large_once']:.3g}",
          short(r["even"] / 1e9) + " × 10⁹" if r["even"] > 0 else say("at once")) for r in rows])
