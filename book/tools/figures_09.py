"""The figures of chapter 09: a changed token, and an agent's growing record."""

from figures import exhibit, figure
from svg import Drawing, Plot, linear, short, steps, width

BLOCK = 32  # positions in a block of the KV cache


@figure("09-changed", {
    "title": ("Tokens read again against the place of the changed token",
              "改了哪个位置的 token，要重读多少"),
    "x": ("the changed token's place", "改的那个 token 的位置"),
    "y": ("tokens read again", "要重读的 token 数"),
    "blocks": ("whole blocks of 32", "按 32 个一块算"),
    "run": ("measured", "实测"),
    "place": ("place", "位置"),
    "read": ("read", "读了"),
    "predicted s": ("predicted, s", "预测，秒"),
    "measured s": ("measured, s", "实测，秒"),
    "caption": (
        "A prompt of {n} tokens that the cache knows, but for one changed token. Changed at "
        "{first}: all {n} are read, {slow} to the first new token. Changed at {last}: {least} "
        "are read, {fast}. Each step is a block of 32.",
        "缓存认得这 {n} 个 token 的提示词，只是其中一个改了。改位置 {first}：{n} 个全部重读，首个 token "
        "要等 {slow}。改位置 {last}：重读 {least} 个，等 {fast}。每级台阶是一块，32 个。"),
})
def changed(book, say):
    rows = sorted(exhibit(book, "09", "changed"), key=lambda r: r["place"])
    first, last = rows[0], rows[-1]
    # What is read behind the first changed token's block, and one block less a step.
    n = int(first["read"]) + int(first["place"]) // BLOCK * BLOCK
    end = int(last["place"])
    yticks = steps(1.05 * n, 4)
    d = Drawing(310)
    plot = Plot(d, linear(0, end, 54, 388), linear(0, yticks[-1], 262, 52), 54, 52, 392, 262)
    plot.axes([t for t in steps(end, 4) if t <= end], yticks, say("x"), say("y"))
    d.path([(54, 31), (78, 31)], "curve read predicted")
    d.text(84, 36, say("blocks"))
    d.legend(36, [("measured", "read", say("run"))], x=100 + width(say("blocks")))
    stairs = []
    for edge in range(0, end + 1, BLOCK):
        stairs += [(edge, n - edge), (min(edge + BLOCK, end), n - edge)]
    plot.curve(stairs, "read predicted")
    for r in rows:
        plot.mark("measured", r["place"], r["read"], "read")
    cells = [(short(r["place"]), short(r["read"]), f"{r['predicted_seconds']:.3g}",
              f"{r['seconds']:.3g}") for r in rows]
    return d, {"n": n, "first": int(first["place"]), "last": end, "least": int(last["read"]),
               "slow": book.number(first["seconds"], "s"),
               "fast": book.number(last["seconds"], "s")}, (
        ("place", "read", "predicted s", "measured s"), cells)


@figure("09-agent", {
    "title": ("Tokens handed in and tokens read, round by round", "每一轮递进去多少 token，又读了多少"),
    "x": ("round", "轮"),
    "y": ("tokens", "token 数"),
    "kept": ("kept from before", "以前读过，还留着"),
    "read": ("read", "要读"),
    "round": ("round", "轮"),
    "handed": ("handed in", "递进去"),
    "read with": ("read, kept", "要读，有缓存"),
    "without s": ("nothing kept, s", "没有缓存，秒"),
    "with s": ("kept, s", "有缓存，秒"),
    "caption": (
        "The record that an agent hands in, round by round. Without a cache the whole bar is "
        "read: {without} tokens in {rounds} rounds. With one only its end is: {with_}.",
        "智能体每一轮递进去的记录。没有缓存，整根柱子都要读：{rounds} 轮 {without} 个 token。"
        "有缓存，只读顶上那一截：{with_} 个。"),
})
def agent(book, say):
    rows = exhibit(book, "09", "agent")
    count = len(rows)
    yticks = steps(1.05 * max(r["prompt"] for r in rows), 4)
    d = Drawing(310)
    plot = Plot(d, linear(0.4, count + 0.6, 54, 392), linear(0, yticks[-1], 262, 52),
                54, 52, 392, 262)
    plot.axes([k for k in range(1, count + 1) if k == 1 or k % 5 == 0], yticks, say("x"), say("y"))
    d.legend(36, [("swatch", "bar open read", say("kept")), ("swatch", "bar read", say("read"))],
             x=54)
    wide = 0.72 * (plot.x(2) - plot.x(1))
    for r in rows:
        left, top = plot.x(r["round"]) - wide / 2, plot.y(r["prompt"])
        d.rect(left, top, wide, plot.bottom - top, "bar open read")
        d.rect(left, top, wide, plot.y(0) - plot.y(r["read_with"]), "bar read")
    return d, {"rounds": count, "without": short(sum(r["read_without"] for r in rows)),
               "with_": short(sum(r["read_with"] for r in rows))}, (
        ("round", "handed", "read with", "without s", "with s"),
        [(int(r["round"]), short(r["prompt"]), short(r["read_with"]),
          f"{r['seconds_without']:.3g}", f"{r['seconds_with']:.3g}") for r in rows])
