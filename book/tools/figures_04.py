"""Chapter 04: one trip of the weights."""

from figures import dot_rows, figure, note, row
from svg import WIDTH, Drawing


@figure("04-bytes", {
    "title": ("Bytes and arithmetic of a token, reading and writing", "读和写：一个 token 的字节与计算量"),
    "bytes": ("bytes fetched for a token", "一个 token 要搬的字节"),
    "flops": ("arithmetic of a token", "一个 token 的计算量"),
    "count": ("{millions:.0f} million FLOPs", "{yi:.2f} 亿 FLOPs"),
    "desc": ("Bytes fetched for a token: {read} when 512 are read at once, {write} when it is "
             "written. Arithmetic: {flops} either way.",
             "一个 token 要搬的字节：一次读 512 个时 {read}，写时 {write}。计算量都是 {flops}。"),
    "caption": (
        "Areas are to scale. The arithmetic is the same. The bytes differ {times}, since 512 "
        "tokens that are read share one trip of the weights, and each written one makes the trip "
        "alone.",
        "面积按比例画。计算量一样，字节差 {times}：读的时候，512 个 token 合用一趟权重；写的时候，"
        "一个 token 就要单独搬一趟。"),
})
def bytes_of_a_token(book, say, side=120):
    read, write = (note(book, "04", f"bytes_per_token_{way}") for way in ("read", "write"))
    flops = note(book, "04", "flops_per_token")
    sizes = [book.number(read, "bytes"), book.number(write, "bytes")]
    count = say("count", millions=flops / 1e6, yi=flops / 1e8)
    d = Drawing(372)
    for x, way, css in ((105, "reading", "read"), (295, "writing", "write")):
        d.text(x, 14, say(way), f"strong {css}", "middle")
    for top, what, pair, words in ((26, "bytes", (read, write), sizes),
                                   (204, "flops", (flops, flops), [count, count])):
        d.text(WIDTH / 2, top + 12, say(what), "tick", "middle")
        for x, css, value, word in zip((105, 295), ("bar read", "bar write"), pair, words):
            a = max(1.5, side * (value / max(pair)) ** 0.5)
            d.rect(x - a / 2, top + 22 + side - a, a, a, css)
            d.text(x, top + 40 + side, word, "", "middle")
    return d, {"read": sizes[0], "write": sizes[1], "flops": count,
               "times": book.number(write / read, "times")}


@figure("04-rates", {
    "title": ("Reading and writing, tokens a second", "读和写，每秒多少 token"),
    "read_512": ("reading 512 at once", "一次读 512 个"),
    "write_511": ("writing 511, one by one", "一个一个写 511 个"),
    "course": ("the course", "课程"),
    "item": ("{way}, {who}: {value}", "{way}，{who}：{value}"),
    "desc": ("Tokens a second. {items}.", "每秒 token 数。{items}。"),
    "caption": (
        "Tokens a second, on a logarithmic axis. The bar of what was measured spans the slowest "
        "and the fastest run. The course: the laptop on which it was written.",
        "每秒 token 数，对数刻度。实测的横线从最慢到最快的一次。“课程”是课程里那台笔记本。"),
})
def rates(book, say):
    groups, said = [], []
    for name, css in (("read_512", "read"), ("write_511", "write")):
        r, rows = row(book, "04", name), []
        for shape, value in (("predicted", r["predicted"]), ("measured", r["measured"]["median"]),
                             ("course", book.course[name]["value"])):
            span = (r["measured"]["min"], r["measured"]["max"]) if shape == "measured" else None
            rows.append((say(shape), book.number(value), span, [(shape, value)]))
            said.append({"way": say(name), "who": say(shape), "value": book.number(value)})
        groups.append((say(name), css, rows))
    return dot_rows(groups, say("token/s"), 104), {"items": say.each("item", said)}
