"""Chapter 03: every position at once."""

from figures import exhibit, figure, note, rows_like, shown, two_curves
from svg import WIDTH, Drawing, log, width


@figure("03-attention", {
    "title": ("Attention of one head over a sentence", "一个注意力头在一句话上的注意力"),
    "masked": ("masked: what comes later", "遮住：后面的不许看"),
    "item": ("{query} to {key}: {weight}", "{query} 看 {key}：{weight}"),
    "desc": ("Each row is a token and how it shares its attention among the tokens up to itself. "
             "Most goes from {items}.",
             "每一行是一个 token，看它把注意力怎么分给自己和前面的 token。分得最多的：{items}。"),
    "caption": (
        "Layer {layer:.0f}, head {head:.0f}, counted from 0. A row for each token, a column for "
        "each token that it may look at. The larger the square, the more of its attention goes "
        "there; a row adds up to 100%. The hatched part is the causal mask.",
        "第 {layer:.0f} 层第 {head:.0f} 头（从 0 数起）。一行是一个 token，一列是它能看的一个 "
        "token。方块越大，注意力给得越多，每行合计 100%。画斜线的是因果遮罩。"),
    "token": ("token", "token"),
    "most": ("looks most at", "最关注"),
    "weight": ("weight", "占比"),
})
def attention(book, say, top=4):
    tokens = sorted(exhibit(book, "03", "attention_tokens"), key=lambda r: r["position"])
    pieces = [shown(r["piece"]) for r in tokens]
    weights = {(int(r["query"]), int(r["key"])): r["weight"]
               for r in exhibit(book, "03", "attention")}
    n, longest = len(pieces), max(width(piece) for piece in pieces)
    left = longest + 8
    cell = min(34.0, (WIDTH - left - 2) / n)
    right, bottom = left + cell * n, top + cell * n

    d = Drawing(bottom + 0.82 * longest + 20)
    d.add("defs", '<pattern id="03-attention-hatch" width="7" height="7" '
          'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
          '<line x1="0" y1="0" x2="0" y2="7" class="hatch"/></pattern>')
    stairs = [(left + cell * (q + 1), top + cell * (q + e)) for q in range(n - 1) for e in (0, 1)]
    d.path(stairs + [(right, bottom - cell), (right, top)], "masked", close=True,
           fill="url(#03-attention-hatch)")
    most = []
    for q, piece in enumerate(pieces):
        y, x = top + cell * q, left + cell * (q + 0.5) + 5
        d.text(left - 6, y + cell / 2 + 5, piece, "", "end")
        d.text(x, bottom + 14, piece, "", "end", transform=f"rotate(-55 {x:.1f} {bottom + 14:.1f})")
        for k in range(q + 1):
            side, inset = cell * weights[q, k] ** 0.5, cell * (1 - weights[q, k] ** 0.5) / 2
            d.rect(left + cell * k + 0.5, y + 0.5, cell - 1, cell - 1, "cell")
            d.rect(left + cell * k + inset, y + inset, side, side, "bar read")
        best = max(range(q + 1), key=lambda k: weights[q, k])
        most.append((piece, pieces[best], f"{100 * weights[q, best]:.0f}%"))
    label, x, y = say("masked"), left + cell * n * 0.64, top + cell * n * 0.22
    d.rect(x - width(label) / 2 - 6, y - 16, width(label) + 12, 24, "plate", rx=4)
    d.text(x, y + 1, label, "", "middle")
    values = {"layer": note(book, "03", "attention_layer"),
              "head": note(book, "03", "attention_head"),
              "items": say.each("item", (dict(zip(("query", "key", "weight"), m)) for m in most))}
    return d, values, (("token", "most", "weight"), most)


@figure("03-pass", {
    "title": ("Reading speed against tokens read at once", "读的速度与一次读入的 token 数"),
    "x": ("tokens in one pass", "一次前向计算的 token 数"),
    "y": ("tokens a second", "每秒 token 数"),
    "item": ("{n} at once: predicted {predicted}, measured {measured}",
             "一次 {n} 个：预测 {predicted}，实测 {measured}"),
    "desc": ("Tokens a second. {items}.", "每秒 token 数。{items}。"),
    "caption": ("How fast one pass reads, by how many tokens it is given. Bars: the slowest and "
                "the fastest run.",
                "一次给它多少个 token，读得有多快。竖线：从最慢到最快的一次。"),
})
def one_pass(book, say):
    rows = sorted((int(n), r) for n, r in rows_like(book, "03", r"read_(\d+)"))
    points = [(n, r["predicted"], r["measured"]["median"]) for n, r in rows]
    sizes = [n for n, _ in rows]
    plot = two_curves(say, points, "read", log(sizes[0], sizes[-1], 66, 380), sizes)
    for n, r in rows:
        plot.whisker(n, r["measured"]["min"], r["measured"]["max"], "read")
    cells = [(n, book.number(p), book.number(m)) for n, p, m in points]
    items = say.each("item", (dict(zip(("n", "predicted", "measured"), c)) for c in cells))
    return plot.d, {"items": items}, (("tokens", "predicted", "measured"), cells)
