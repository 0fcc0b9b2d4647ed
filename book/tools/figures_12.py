"""The figures of chapter 12: votes and verifiers, eight questions, a judge that errs."""

from figures import exhibit, figure, row
from svg import Drawing, Plot, linear, log, short, steps

WAYS = (("any", "write"), ("vote", "other"), ("majority", "read"))


def percent(share):
    """One digit behind the point below ten."""
    value = 100 * share
    return f"{value:.0f}%" if value >= 9.95 or value == 0 else f"{value:.1f}%"


@figure("12-votes", {
    "title": ("How often n tries give a right answer, by who chooses", "试 n 次，由谁来挑，答对的比例"),
    "x": ("tries", "试几次"),
    "y": ("right, %", "答对，%"),
    "any": ("a verifier", "验证器"),
    "vote": ("a vote", "投票"),
    "majority": ("more than half", "过半数"),
    "groups": ("groups", "组数"),
    "any p": ("verifier, predicted", "验证器，预测"),
    "any m": ("measured", "实测"),
    "vote p": ("vote, predicted", "投票，预测"),
    "vote m": ("measured", "实测"),
    "half p": ("half, predicted", "过半，预测"),
    "half m": ("measured", "实测"),
    "item": ("n = {n}: verifier {any}, vote {vote}, more than half {majority}",
             "n = {n}：验证器 {any}，投票 {vote}，过半数 {majority}"),
    "caption": (
        "One question, tried again and again. Lines: from the share that the first tries "
        "gave. Dots: the other tries, in groups of n. {items}.",
        "同一道题，一试再试。线：由前面一部分尝试的比例推算。点：其余的尝试，n 个一组。{items}。"),
})
def votes(book, say):
    rows = sorted(exhibit(book, "12", "one"), key=lambda r: r["n"])
    most = rows[-1]["n"]
    d = Drawing(330)
    plot = Plot(d, log(0.9, 1.08 * most, 46, 392), linear(0, 100, 282, 52), 46, 52, 392, 282)
    plot.axes([r["n"] for r in rows], [0, 25, 50, 75, 100], say("x"), say("y"))
    d.legend(36, [("swatch", f"bar {css}", say(way)) for way, css in WAYS])
    for way, css in WAYS:
        plot.curve([(r["n"], 100 * r[way + "_predicted"]) for r in rows], css)
    for way, css in reversed(WAYS):
        for r in rows:
            plot.mark("measured", r["n"], 100 * r[way], css)
    cells = [(short(r["n"]), short(r["groups"]))
             + tuple(percent(r[way + end]) for way, _ in WAYS for end in ("_predicted", ""))
             for r in rows]
    items = say.each("item", ({"n": short(r["n"])} | {way: percent(r[way]) for way, _ in WAYS}
                              for r in (rows[0], rows[-1])))
    return d, {"items": items}, (
        ("x", "groups", "any p", "any m", "vote p", "vote m", "half p", "half m"), cells)


@figure("12-questions", {
    "title": ("Eight questions: one try, a vote, a verifier", "八道题：试一次、投票、验证器"),
    "one": ("one try", "试一次"),
    "vote": ("a vote of {n}", "{n} 次投票"),
    "any": ("{n} tries, a verifier", "{n} 次，验证器"),
    "axis": ("right, %", "答对，%"),
    "question": ("the reply begins", "回答的开头"),
    "verifier": ("a verifier", "验证器"),
    "voted": ("a vote", "投票"),
    "item": ("{beginning}: one try {one}, a vote {vote}, a verifier {any}",
             "{beginning}：试一次 {one}，投票 {vote}，验证器 {any}"),
    "desc": ("{items}.", "{items}。"),
    "caption": (
        "Each line is a question, named by how its reply begins. From one try, the diamond, a vote of "
        "{n} moves toward one end or the other; a verifier only moves to the right. Measured.",
        "一行是一道题，用回答的开头称呼它。从菱形（试一次）出发，{n} 次投票不是奔这头就是奔那头；验证器只往右走。都是实测。"),
})
def questions(book, say):
    rows = sorted(exhibit(book, "12", "questions"), key=lambda r: r["one"])
    n = short(rows[0]["n"])
    left, right = 12, 380
    x = linear(0, 1, left, right)
    d = Drawing(86 + 44 * len(rows))
    bottom = 30 + 44 * len(rows)
    for share in (0, 0.25, 0.5, 0.75, 1):
        d.line(x(share), 28, x(share), bottom, "grid")
        d.text(x(share), bottom + 18, short(100 * share), "tick", "middle")
    d.text(400, bottom + 40, say("axis"), "name", "end")
    d.legend(14, [("predicted", "neutral", say("one")), ("measured", "other", say("vote", n=n)),
                  ("measured", "write", say("any", n=n))])
    for i, r in enumerate(rows):
        y = 46 + 44 * i
        d.text(left, y, f"“{r['beginning']} …”")
        y += 16
        d.line(left, y, right, y, "lane")
        d.line(x(r["one"]), y, x(r["vote"]), y, "whisker other")
        d.line(x(r["one"]), y, x(r["any"]), y, "whisker write")
        d.mark("measured", x(r["vote"]), y, "other")
        d.mark("measured", x(r["any"]), y, "write")
        d.mark("predicted", x(r["one"]), y, "neutral")
    cells = [(r["beginning"],) + tuple(percent(r[k]) for k in ("one", "vote", "any"))
             for r in rows]
    items = say.each("item", (dict(zip(("beginning", "one", "vote", "any"), c)) for c in cells))
    return d, {"n": n, "items": items}, (("question", "one", "voted", "verifier"), cells)


@figure("12-routing", {
    "title": ("What is right and what it costs, by how often the judge errs",
              "裁判错得多不多：答对多少，花了多少"),
    "x": ("tries for a question, on average", "平均每题试几次"),
    "y": ("right, %", "答对，%"),
    "judge": ("errs in {share}", "错 {share}"),
    "all one": ("one try for all", "每题一次"),
    "all many": ("all tries for all", "每题试满"),
    "mistaken": ("judge errs", "裁判错的比例"),
    "right p": ("right, predicted", "答对，预测"),
    "right m": ("measured", "实测"),
    "cost p": ("tries, predicted", "次数，预测"),
    "cost m": ("measured", "实测"),
    "item": ("judge errs in {share}: {right} right for {cost} tries",
             "裁判错 {share}：答对 {right}，{cost} 次"),
    "caption": (
        "Left: one try for all. Right: all tries for all. The dashed line between them needs no "
        "judge, only a coin. The line of judges, by how often they err: {items}.",
        "左端：每题试一次。右端：每题都试满。两端之间的虚线用不着裁判，抛硬币就行。实线是裁判，看错得多不多：{items}。"),
})
def routing(book, say):
    rows = sorted(exhibit(book, "12", "routing"), key=lambda r: r["mistaken"])
    ends = [(row(book, "12", f"{way}_cost")["predicted"], row(book, "12", way)["predicted"])
            for way in ("brief", "careful")]
    xticks = steps(ends[1][0], 8)
    yticks = [t for t in steps(100, 10) if t >= ends[0][1] - 12]
    yticks = [t for t in yticks if t <= ends[1][1] + 12]
    d = Drawing(330)
    plot = Plot(d, linear(0, xticks[-1], 46, 388), linear(yticks[0], yticks[-1], 282, 52),
                46, 52, 392, 282)
    plot.axes(xticks, yticks, say("x"), say("y"))
    d.legend(36, [("predicted", "write", say("predicted")), ("measured", "write", say("measured"))])
    plot.curve(ends, "neutral dashed")
    plot.curve([(r["cost_predicted"], 100 * r["right_predicted"]) for r in rows], "write")
    for cost, right in ends:
        plot.mark("predicted", cost, right, "neutral")
    for r in rows:
        plot.mark("predicted", r["cost_predicted"], 100 * r["right_predicted"], "write")
        plot.mark("measured", r["cost"], 100 * r["right"], "write")
    for r in (rows[0], rows[-1]):
        x, y = plot.x(r["cost_predicted"]), plot.y(100 * r["right_predicted"])
        plot.label(say("judge", share=percent(r["mistaken"])), "", (x - 12, y - 6, "end"),
                   (x + 12, y + 16, "start"))
    for words, (cost, right) in zip(("all one", "all many"), ends):
        x, y = plot.x(cost), plot.y(right)
        plot.label(say(words), "tick", (x + 10, y + 5, "start"), (x - 10, y - 8, "end"))
    cells = [(percent(r["mistaken"]), percent(r["right_predicted"]), percent(r["right"]),
              f"{r['cost_predicted']:.2f}", f"{r['cost']:.2f}") for r in rows]
    items = say.each("item", ({"share": c[0], "right": c[2], "cost": c[4]}
                              for c in (cells[0], cells[-1])))
    return d, {"items": items}, (("mistaken", "right p", "right m", "cost p", "cost m"), cells)
