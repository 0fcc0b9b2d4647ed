"""Chapter 02: a table of candidates."""

from figures import exhibit, figure, in_html, shown
from svg import WIDTH, Drawing, linear, width


@figure("02-candidates", {
    "title": ("The first candidates for the next token", "下一个 token 的候选表（前几名）"),
    "bits": ("bits", "比特"),
    "item": ("{piece} {percent:.2f}%, {bits:.2f} bits", "{piece} {percent:.2f}%，{bits:.2f} 比特"),
    "desc": ("{items}.", "{items}。"),
    "caption": (
        "The first {count} candidates hold {total:.1f}% together; all other tokens share the rest. "
        "The right column is the surprise if that token comes.",
        "前 {count} 名加起来占 {total:.1f}%，剩下的归词表里所有别的 token。最右一列：真来了这个 "
        "token，有多意外。"),
})
def candidates(book, say):
    rows = [r | {"piece": shown(r["piece"])} for r in exhibit(book, "02", "candidates")[:10]]
    left = max(width(r["piece"]) for r in rows) + 10
    x = linear(0, max(r["percent"] for r in rows), left, 276)
    d = Drawing(26 + 27 * len(rows))
    d.text(342, 14, "%", "tick", "end")
    d.text(WIDTH, 14, say("bits"), "tick", "end")
    for i, r in enumerate(rows):
        y = 24 + 27 * i
        d.text(left - 8, y + 15, r["piece"], "", "end")
        d.rect(left, y, max(1, x(r["percent"]) - left), 20, "bar read", rx=2)
        d.text(342, y + 15, f"{r['percent']:.2f}", "", "end")
        d.text(WIDTH, y + 15, f"{r['bits']:.2f}", "tick", "end")
    return d, {"items": say.each("item", rows), "count": len(rows),
               "total": sum(r["percent"] for r in rows)}


LEVELS = (1, 4, 8, 12)  # bits: where one colour ends and the next begins


@figure("02-along", {
    "legend": ("Legend", "图例"),
    "under": ("under 1 bit", "不到 1 比特"),
    "from": ("{low} to {high}", "{low} 到 {high}"),
    "over": ("12 or more", "12 以上"),
    "caption": (
        "{count} tokens of the text, by surprise: the deeper the colour and the thicker the line, "
        "the less the model expected them. Mean: {mean:.1f} bits. Places where the first candidate "
        "was above 90%: {sure}.",
        "文中 {count} 个 token 各有多意外：颜色越深、下划线越粗，模型越没想到。平均 {mean:.1f} 比特；"
        "第一名超过 90% 的位置有 {sure} 个。"),
})
def along(book, say):
    rows = exhibit(book, "02", "along")
    levels = [sum(r["bits"] >= edge for edge in LEVELS) for r in rows]
    text = ""
    for r, level in zip(rows, levels):
        word = shown(r["piece"]).removeprefix("␣")
        text += " " * (word != shown(r["piece"])) + (
            f'<span class="bits b{level}" title="{book.number(r["bits"], "bits")}">'
            f'{in_html(word) or "␣"}</span>')
    names = [say("under"), *(say("from", low=a, high=b) for a, b in zip(LEVELS, LEVELS[1:])),
             say("over")]
    key = "".join(f'<li><span class="bits b{level}">{name}</span> × {levels.count(level)}</li>'
                  for level, name in enumerate(names))
    return (f'<p class="along" lang="en">{text.strip()}</p>'
            f'<ul class="key" aria-label="{say("legend")}">{key}</ul>',
            {"count": len(rows), "mean": sum(r["bits"] for r in rows) / len(rows),
             "sure": sum(r["percent_first"] > 90 for r in rows)})
