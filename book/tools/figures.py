"""The book's figures: one function each, from results files to HTML, in two languages.

make(book, name) gives one figure. Its words stand above its function, English beside
Chinese. Every number in it, and in what a screen reader says of it, comes from the
results; what is missing there raises Missing. A function returns what it drew, the values
that its words have places for, and a table if there is one to unfold below.
"""

import re
from collections import Counter
from html import escape
from importlib import import_module
from itertools import accumulate
from math import atan2, degrees, floor, log2, log10
from pathlib import Path

from quantities import Missing
from svg import WIDTH, Drawing, Plot, decades, linear, log, log_axis, short, steps, width

FIGURES = {}

COMMON = {
    "numbers": ("The numbers", "具体数字"),
    "reading": ("reading", "读"),
    "writing": ("writing", "写"),
    "predicted": ("predicted", "预测"),
    "measured": ("measured", "实测"),
    "tokens": ("tokens", "token 数"),
    "seconds": ("seconds", "秒"),
    "token/s": ("token/s", "token/秒"),
}


class Words:
    """A figure's words in one language; {places} in them are filled when they are said."""

    def __init__(self, book, words):
        self.words, self.language = COMMON | words, int(book.lang == "zh")

    def __call__(self, name, **values):
        if name not in self.words:
            raise Missing(f"no words for '{name}'")
        return self.words[name][self.language].format(**values)

    def each(self, name, rows):
        """The same phrase for each of several rows of values."""
        return ("; ", "；")[self.language].join(self(name, **row) for row in rows)


def figure(name, words):
    def enter(draw):
        FIGURES[name] = draw, words
        return draw
    return enter


def make(book, name):
    """The figure as HTML, in the book's language."""
    if name not in FIGURES:
        raise Missing(f"no figure '{name}'; there are {', '.join(sorted(FIGURES))}")
    draw, words = FIGURES[name]
    say = Words(book, words)
    try:
        body, values, *table = draw(book, say)
    except KeyError as missing:
        raise Missing(f"figure '{name}' needs {missing}") from missing
    if isinstance(body, Drawing):
        body = body.svg(name, say("title", **values),
                        say("desc" if "desc" in words else "caption", **values))
    return (f'<figure class="figure" id="fig-{name}">{body}'
            f'<figcaption>{escape(say("caption", **values))}</figcaption>'
            + (unfolding(say, *table) if table else "") + "</figure>")


def unfolding(say, table):
    """table: the names of the head's words, and rows of cells."""
    head, rows = table
    cells = "".join(f'<th scope="col">{escape(say(name))}</th>' for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
                   for row in rows)
    return (f'<details class="numbers"><summary>{say("numbers")}</summary>'
            f'<div class="scroll" tabindex="0"><table class="data"><thead><tr>{cells}</tr></thead>'
            f"<tbody>{body}</tbody></table></div></details>")


# What the figures read
# ---------------------


def chapter(book, number):
    if number not in book.results:
        raise Missing(f"no results of chapter {number}")
    return book.results[number]


def exhibit(book, number, name):
    """Its rows, each a dictionary by column."""
    for shown in chapter(book, number).get("exhibits", []):
        if shown["id"] == name and shown["rows"]:
            return [dict(zip(shown["columns"], row)) for row in shown["rows"]]
    raise Missing(f"no exhibit '{name}' in the results of chapter {number}")


def row(book, number, name):
    for one in chapter(book, number)["rows"]:
        if one["id"] == name:
            return one
    raise Missing(f"no row '{name}' in the results of chapter {number}")


def rows_like(book, number, pattern):
    """[(what the pattern's group found, row)] of all rows whose id fits."""
    found = [(match[1], one) for one in chapter(book, number)["rows"]
             if (match := re.fullmatch(pattern, one["id"]))]
    if not found:
        raise Missing(f"no row like '{pattern}' in the results of chapter {number}")
    return found


def note(book, number, name):
    for one in chapter(book, number)["notes"]:
        if one["id"] == name:
            return one["value"]
    raise Missing(f"no note '{name}' in the results of chapter {number}")


# How tokens and numbers look
# ---------------------------


def tidy(value):
    """The largest of 1, 1.5, 2, 3, 5, 8 times a power of ten that is no more."""
    one = 10.0 ** floor(log10(value))
    return one * max(m for m in (1, 1.5, 2, 3, 5, 8) if one * m <= value * 1.000001)


def shown(piece):
    """A token's text with its blanks and line ends in sight."""
    return piece.replace(" ", "␣").replace("\n", "\\n").replace("\t", "\\t")


BYTES = re.compile(r"(?:\\x[0-9a-f]{2})+")  # those that are no whole character


def in_html(piece):
    """The same; lone bytes are small, in hexadecimal."""
    return BYTES.sub(lambda run: '<span class="part">' +
                     run[0].replace("\\x", " ").strip().upper() + "</span>", escape(shown(piece)))


ESCAPED = re.compile(r"\\x([0-9a-f]{2})|\\u\{([0-9a-f]+)\}|\\([nrt\\])|(.)")


def spelled(pieces):
    """The text that these pieces are, as one reads it: no marks, one blank for several."""
    whole = b"".join(
        bytes.fromhex(byte) if byte else chr(int(code, 16)).encode() if code else
        {"\\": b"\\"}.get(spelling, b" ") if spelling else other.replace("␣", " ").encode()
        for byte, code, spelling, other in ESCAPED.findall("".join(pieces)))
    return re.sub(r"\s+", " ", whole.decode(errors="ignore")).strip()


def chips(pieces, css):
    """css: the class of each."""
    broken = {piece: " broken" if BYTES.search(piece) else "" for piece in pieces}
    return '<span class="chips">' + "".join(
        f'<span class="chip {one}{broken[piece]}">{in_html(piece)}</span>'
        for piece, one in zip(pieces, css)) + "</span>"


def predicted_measured(say, css):
    return [("predicted", css, say("predicted")), ("measured", css, say("measured"))]


# 00: a wait, then a beat
# -----------------------


@figure("00-beats", {
    "title": ("A streamed answer as a time line", "流式输出的时间线"),
    "wait": ("wait: {wait}", "等待：{wait}"),
    "caption": (
        "Time runs from left to right, line by line. A wait of {wait} while the prompt is read, "
        "then a tick for each token; half of the gaps are {beat} or more. {seen} of {all} tokens "
        "are shown.",
        "时间从左到右，一行接一行。先等 {wait}，这是在读提示；然后一个 token 一格，间隔的中位数是 "
        "{beat}。图里是 {all} 个 token 中的前 {seen} 个。"),
})
def beats(book, say, lines=6, end=362, pitch=64):
    rows = exhibit(book, "00", "beats")
    times = list(accumulate(r["seconds"] for r in rows))  # each counts from the token before
    gaps = sorted(r["seconds"] for r in rows[1:]) or times
    beat = gaps[len(gaps) // 2]
    # A line lasts as long as lets nine of ten pieces end before the next begins.
    room = sorted((width(shown(r["piece"])) + 10) / max(then["seconds"], beat / 4)
                  for r, then in zip(rows, rows[1:])) or [end / times[0]]
    line = tidy(max(end / room[int(0.9 * (len(room) - 1))], times[0] / 2))
    seen = [(t, shown(r["piece"])) for t, r in zip(times, rows) if t < line * lines]

    count = int(seen[-1][0] / line) + 1
    d = Drawing(pitch * count + 2)
    for k in range(count):
        base = pitch * k + 40
        d.line(0, base, end, base, "axis")
        d.text(0, base + 18, book.number(k * line, "s") if k else "0", "tick")
        if times[0] > k * line:
            d.rect(0, base - 10, end * min(1, times[0] / line - k), 10, "bar read")
    wait = book.number(times[0], "s")
    d.text(18, 58, say("wait", wait=wait), "read")
    free = {}  # where the text of a line's lower and upper level ends
    for t, piece in seen:
        k = int(t / line)
        x, base = end * (t / line - k), pitch * k + 40
        left = min(max(0, x - 1), WIDTH - width(piece) - 1)
        level = next((level for level in (0, 1) if free.get((k, level), -9) + 3 <= left), None)
        d.line(x, base - 12 - 14 * (level or 0), x, base, "whisker write")
        if level is not None:
            d.text(left, base - 15 - 14 * level, piece)
            free[k, level] = left + width(piece)
    return d, {"wait": wait, "beat": book.number(beat, "s"), "seen": len(seen), "all": len(rows)}


# 01: text becomes tokens
# -----------------------

TEXTS = {"english": ("English", "英文"), "chinese": ("Chinese", "中文"), "code": ("Code", "代码"),
         "emoji": ("Emoji", "表情符号")}


def bill_rows(book):
    """Text and vocabulary, as the rows' ids name them, to the row."""
    pattern = r"((?:english|chinese|code|emoji)_[a-z0-9]+)"
    return {tuple(name.split("_")): r for name, r in rows_like(book, "01", pattern)}


def vocabularies(book):
    """A vocabulary's name in the rows' ids to its number of entries."""
    return {name: re.search(r"([\d,]+) entries$", r["what"])[1]
            for (_, name), r in bill_rows(book).items()}


@figure("01-chips", TEXTS | {
    "heading": ("vocabulary of {entries}: {count} tokens", "词表 {entries} 项：{count} 个 token"),
    "caption": (
        "Each chip is a token; its colour only sets it off from its neighbours. ␣ is a blank. A "
        "broken edge marks bytes, in hexadecimal, that are only part of a character.",
        "一块是一个 token，颜色只用来区分相邻的两块。␣ 是空格。虚线框里是字节（十六进制），"
        "只是一个字的一部分。"),
})
def token_chips(book, say):
    entries, groups = vocabularies(book), {}
    for r in exhibit(book, "01", "chips"):
        groups.setdefault(r["text"], {}).setdefault(r["vocabulary"], []).append(r["piece"])
    html = ""
    for text, cut in groups.items():
        sentence = spelled(next(iter(cut.values())))
        html += f'<p class="chips-text"><b>{say(text)}</b> {escape(sentence)}</p>'
        for name, pieces in cut.items():
            heading = say("heading", entries=entries[name], count=len(pieces))
            html += f'<p class="chips-label">{heading}</p>' + chips(
                pieces, [f"tint{i % 4}" for i in range(len(pieces))])
    return html, {}


@figure("01-bill", TEXTS | {
    "title": ("Tokens per 1,000 characters", "每 1,000 个字符有多少 token"),
    "entries": ("{entries} entries", "词表 {entries} 项"),
    "item": ("{text}, {entries}: {value}", "{text}，{entries}：{value}"),
    "desc": ("Tokens per 1,000 characters. {items}.", "每 1,000 个字符的 token 数。{items}。"),
    "caption": ("Tokens per 1,000 characters of each text, under two vocabularies. Shorter is "
                "cheaper.",
                "每种文本 1,000 个字符切成多少 token，两份词表各算一次。越短越便宜。"),
})
def bill(book, say):
    values = {key: r["measured"]["median"] for key, r in bill_rows(book).items()}
    entries = {name: say("entries", entries=n) for name, n in vocabularies(book).items()}
    styles = dict(zip(entries, ("bar read", "bar write open")))
    texts = list(dict.fromkeys(text for text, _ in values))
    d = Drawing(24 + 72 * len(texts))
    d.legend(14, [("swatch", styles[name], entries[name]) for name in entries])
    x = linear(0, max(values.values()), 0, 336)
    for i, text in enumerate(texts):
        d.text(0, 46 + 72 * i, say(text), "strong")
        for k, name in enumerate(entries):
            y, value = 53 + 72 * i + 21 * k, values[text, name]
            d.rect(0, y, x(value), 16, styles[name], rx=2)
            d.text(x(value) + 7, y + 13, book.number(value))
    return d, {"items": say.each("item", (
        {"text": say(text), "entries": entries[name], "value": book.number(value)}
        for (text, name), value in values.items()))}


@figure("01-merges", {
    "caption": (
        "{bytes} bytes, {merges} merges, {left} left. Each line applies the earliest rule that "
        "fits; the bold chip is what it made.",
        "{bytes} 个字节，合并 {merges} 次，剩下 {left} 个 token。每一行用上最靠前的那条合并规则，"
        "粗体的那块就是刚合出来的。"),
})
def merges(book, say):
    stages = {}
    for r in exhibit(book, "01", "merges"):
        stages.setdefault(r["step"], []).append(r["piece"])
    stages, lines = list(stages.values()), ""
    for before, pieces in zip([stages[0], *stages], stages):
        fresh = Counter(pieces) - Counter(before)
        lines += f'<li>{chips(pieces, ["merged" if fresh[p] else "tint0" for p in pieces])}</li>'
    return (f'<ol class="merges" start="0">{lines}</ol>',
            {"bytes": len(stages[0]), "merges": len(stages) - 1, "left": len(stages[-1])})


# 02: a table of candidates
# -------------------------


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


# 03: every position at once
# --------------------------


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


def two_curves(say, points, css, x, ticks):
    """(x, predicted, measured): dashed and hollow, solid and filled."""
    d, yticks = Drawing(310), steps(1.05 * max(max(p[1:]) for p in points), 4)
    plot = Plot(d, x, linear(0, yticks[-1], 262, 52), 54, 52, 392, 262)
    plot.axes(ticks, yticks, say("x"), say("y"))
    d.legend(36, predicted_measured(say, css))
    for shape, i in (("predicted", 1), ("measured", 2)):
        plot.curve([(p[0], p[i]) for p in points], f"{css} {shape}")
        for p in points:
            plot.mark(shape, p[0], p[i], css)
    return plot


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


# 04: one trip of the weights
# ---------------------------


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


def dot_rows(groups, axis, left, right=318):
    """Rows of marks on one log axis. groups: (heading, css, rows); a row: (words, the value
    as written at the right, (least, most) or None, [(shape, value)])."""
    values = [v for _, _, rows in groups for _, _, span, marks in rows
              for v in (*(span or ()), *(v for _, v in marks))]
    x, ticks = log_axis(values, left, right)
    bottom = sum(28 + 26 * len(rows) for _, _, rows in groups)
    d = Drawing(bottom + 42)
    for t in ticks:
        d.line(x(t), 22, x(t), bottom, "grid")
        d.text(x(t), bottom + 16, short(t), "tick", "middle")
    d.text(WIDTH, bottom + 38, axis, "name", "end")
    y = 14
    for heading, css, rows in groups:
        d.text(0, y, heading, f"strong {css}")
        y += 25
        for words, value, span, marks in rows:
            d.text(0, y, words)
            d.line(left, y - 5, right, y - 5, "lane")
            if span:
                d.line(x(span[0]), y - 5, x(span[1]), y - 5, f"whisker {css}")
            for shape, v in marks:
                d.mark(shape, x(v), y - 5, css)
            d.text(WIDTH, y, value, "", "end")
            y += 26
        y += 3
    return d


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


# 05: with a cache and without
# ----------------------------


@figure("05-elapsed", {
    "title": ("Seconds against tokens written, with a KV cache and without",
              "有无 KV 缓存：写出的 token 数与用时"),
    "x": ("tokens written", "写出的 token 数"),
    "with": ("with a cache: {value} s", "有缓存：{value} 秒"),
    "without": ("without: {value} s", "没有缓存：{value} 秒"),
    "caption": (
        "Seconds until so many tokens are written. After {tokens}: {without} s without a KV cache, "
        "{with_} s with one. Without, every token needs a longer pass than the one before.",
        "写出这么多 token 用了多少秒。到第 {tokens} 个：没有 KV 缓存 {without} 秒，有缓存 {with_} 秒。"
        "没有缓存，每个 token 都要比前一个多算一截。"),
    "with s": ("with, s", "有缓存，秒"),
    "without s": ("without, s", "没有缓存，秒"),
})
def elapsed(book, say):
    rows = exhibit(book, "05", "elapsed")
    last = rows[-1]
    n, slow, fast = last["tokens"], last["without_seconds"], last["with_seconds"]
    guesses = [(int(m), css, row(book, "05", f"cache_{m}_{way}_seconds")["predicted"])
               for m in (256, 768) for way, css in (("without", "write"), ("with", "read"))]
    guesses = [g for g in guesses if g[0] <= n]
    d, yticks = Drawing(324), steps(1.05 * max(slow, *(g[2] for g in guesses), fast), 4)
    plot = Plot(d, linear(0, n, 54, 388), linear(0, yticks[-1], 276, 44), 54, 44, 392, 276)
    plot.axes([t for t in steps(n, 4) if t <= n], yticks, say("x"), say("seconds"))
    d.legend(34, predicted_measured(say, "neutral"), x=54)
    for way, css in (("without_seconds", "write"), ("with_seconds", "read")):
        plot.curve([(0, 0), *((r["tokens"], r[way]) for r in rows)], f"{css} measured")
        plot.mark("measured", n, last[way], css)
    for m, css, seconds in guesses:
        plot.mark("predicted", m, seconds, css)
    d.text(plot.x(n) - 16, max(60, plot.y(slow) + 5), say("without", value=short(slow)),
           "write strong", "end")
    near = plot.y(fast) - plot.y(slow) < 40
    d.text(plot.x(n), plot.y(fast) + (22 if near else -14), say("with", value=short(fast)),
           "read strong", "end")
    return (d, {"tokens": short(n), "without": short(slow), "with_": short(fast)},
            (("tokens", "with s", "without s"),
             [(short(r["tokens"]), f"{r['with_seconds']:.3g}", f"{r['without_seconds']:.3g}")
              for r in rows[3::4]]))


@figure("05-memory", {
    "title": ("Size of the KV cache against tokens kept", "KV 缓存的大小与 token 数"),
    "big": ("8B model, f16", "8B 模型，f16"),
    "f32": ("GPT-2 small, f32", "GPT-2 small，f32"),
    "f16": ("GPT-2 small, f16", "GPT-2 small，f16"),
    "each": ("{size} a token", "每个 token {size}"),
    "x": ("tokens in the cache", "缓存里的 token 数"),
    "caption": (
        "GPT-2 small with a full context of {short} tokens: {f32} in f32, {f16} in f16. An 8B "
        "model at {long}: {big}. Both axes are logarithmic; every line grows by the same bytes "
        "with each token.",
        "GPT-2 small 的上下文满到 {short} 个 token 时：f32 占 {f32}，f16 占 {f16}。8B 模型到 {long} 个："
        "{big}。两根轴都是对数刻度；每条线都是每多一个 token，就多同样多的字节。"),
})
def memory(book, say):
    def size(count):
        return book.number(count, "bytes")
    each = {"f32": note(book, "05", "kv_per_token_f32"), "f16": note(book, "05", "kv_per_token"),
            "big": note(book, "05", "kv_8b_per_token")}
    small = note(book, "05", "kv_full") / each["f16"]  # tokens, at most
    large = note(book, "05", "kv_8b_128k") / each["big"]
    d = Drawing(382)
    plot = Plot(d, log(1, 1.1 * large, 66, 388), log(2**14, 2**36, 334, 78), 62, 78, 392, 334)
    plot.axes([1, 32, small, large], [2**k for k in range(16, 37, 4)], say("x"), "", ysay=size)
    for i, (name, most, css) in enumerate((("big", large, "write"), ("f32", small, "read"),
                                           ("f16", small, "other dashed"))):
        d.line(0, 9 + 20 * i, 26, 9 + 20 * i, f"curve {css}")
        d.text(32, 14 + 20 * i, say(name))
        d.text(WIDTH, 14 + 20 * i, say("each", size=size(each[name])), "", "end")
        plot.curve([(1, each[name]), (most, each[name] * most)], css)
        plot.mark("measured", most, each[name] * most, css)
    full = {name: size(each[name] * small) for name in ("f32", "f16")}
    d.text(plot.x(large) - 10, plot.y(each["big"] * large) - 4, size(each["big"] * large),
           "write strong", "end")
    d.text(plot.x(small) + 10, plot.y(each["f32"] * small) + 8, full["f32"], "read strong")
    d.text(plot.x(small) + 10, plot.y(each["f16"] * small) + 16, full["f16"], "other strong")
    return d, full | {"short": short(small), "long": short(large), "big": size(each["big"] * large)}


# 06: what one waits for
# ----------------------


@figure("06-timeline", {
    "title": ("Three answers on a time line", "三次回答的时间线"),
    "prompt": ("reading the prompt", "读提示（预填充）"),
    "stroke": ("a stroke for each token", "一格一个 token（解码）"),
    "answer": ("{n} in, {m} out", "读 {n}，写 {m}"),
    "item": ("{n} tokens in, {m} out: the first after {first}, all after {total}",
             "读 {n} 个、写 {m} 个：首个 token 等 {first}，全部 {total}"),
    "desc": ("{items}.", "{items}。"),
    "caption": ("Twice the output doubles the strokes. Twice the input widens only the block at "
                "the start.", "输出加倍，格子加倍；输入加倍，变宽的只有开头那一块。"),
    "first token": ("first token", "首个 token 的等待"),
    "total": ("total", "全部"),
    "in, out": ("answer", "回答"),
})
def timeline(book, say, top=30):
    rows = [{"n": short(r["tokens_in"]), "m": int(r["tokens_out"]),
             "first": r["first_token_seconds"], "total": r["total_seconds"]}
            for r in exhibit(book, "06", "timeline")]
    most, bottom = max(r["total"] for r in rows), top + 62 * len(rows)
    ticks = [t for t in steps(most, 4) if t <= most]
    x = linear(0, most, 4, 390)
    d = Drawing(bottom + 46)
    d.legend(14, [("swatch", "bar read", say("prompt")), ("swatch", "bar write", say("stroke"))])
    for t in ticks:
        d.line(x(t), top, x(t), bottom, "grid")
        d.text(x(t), bottom + 18, short(t), "tick", "middle")
    d.text(WIDTH, bottom + 40, say("seconds"), "name", "end")
    for i, r in enumerate(rows):
        y = top + 62 * i
        d.text(0, y + 18, say("answer", **r), "strong")
        d.text(WIDTH, y + 18, book.number(r["total"], "s"), "", "end")
        d.rect(x(0), y + 26, x(r["first"]) - x(0), 24, "bar read")
        d.add("path", d=f"M{x(r['first']):.2f} {y + 38}H{x(r['total']):.2f}",
              class_="strokes write", pathLength=r["m"], stroke_dasharray="0.62 0.38")
    said = [r | {"first": book.number(r["first"], "s"), "total": book.number(r["total"], "s")}
            for r in rows]
    return d, {"items": say.each("item", said)}, (
        ("in, out", "first token", "total"),
        [(say("answer", **r), r["first"], r["total"]) for r in said])


@figure("06-context", {
    "title": ("The beat against the context", "节拍与上下文长度"),
    "x": ("tokens before", "前面的 token 数"),
    "y": ("milliseconds for a token", "每个 token 的毫秒数"),
    "item": ("behind {past} tokens {predicted} ms predicted, {measured} ms measured",
             "前面有 {past} 个 token：预测 {predicted} 毫秒，实测 {measured} 毫秒"),
    "caption": ("Time for one more token: {items}.", "再写一个 token 要多久。{items}。"),
})
def context(book, say):
    rows = sorted(exhibit(book, "06", "context"), key=lambda r: r["past"])
    points = [(r["past"], 1e3 * r["predicted_seconds"], 1e3 * r["measured_seconds"]) for r in rows]
    end = points[-1][0]
    plot = two_curves(say, points, "write", linear(0, end, 66, 380),
                      [t for t in steps(end, 4) if t <= end])
    cells = [(short(n), f"{p:.3g}", f"{m:.3g}") for n, p, m in points]
    items = say.each("item", (dict(zip(("past", "predicted", "measured"), cell))
                              for cell in (cells[0], cells[-1])))
    return plot.d, {"items": items}, (("x", "predicted", "measured"), cells)


# 07: two ceilings
# ----------------


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


# All predictions of the book
# ---------------------------


def ratios(results):
    """(chapter, row, time measured over time predicted) where the two ceilings predict."""
    for number, run in sorted(results.items()):
        for r in run["rows"]:
            if r["predicted"] and r["unit"] in ("s", "token/s", "times"):
                ratio = r["measured"]["median"] / r["predicted"]
                yield number, r, 1 / ratio if r["unit"] == "token/s" else ratio


def stacked(dots, x, gap=11):
    """[(level, dot)]: what would overlap goes to levels 0, -1, 1, -2 about the middle."""
    levels, placed = [], []
    for dot in dots:
        at = x(dot[1])
        k = next((k for k, level in enumerate(levels) if all(abs(at - a) >= gap for a in level)),
                 len(levels))
        if k == len(levels):
            levels.append([])
        levels[k].append(at)
        placed.append(((k + 1) // 2 * (-1) ** k, dot))
    return placed


@figure("predicted", {
    "title": ("Measured over predicted, all chapters", "实测比预测，所有章节"),
    "time": ("a time or a rate", "时间或速度"),
    "ratio": ("a ratio", "倍数"),
    "yours": ("yours", "你的"),
    "faster": ("← faster", "← 比预测快"),
    "slower": ("slower than predicted →", "比预测慢 →"),
    "caption": (
        "Every prediction of the two ceilings, by chapter. Dots: time measured over time "
        "predicted. Triangles: rows that divide one by another. {count} rows; {near} of them "
        "within 20%. Farthest off: {far} of chapter {where}, at a ratio of {ratio:.2g}.",
        "两个上限给出的预测都在这里，按章排开。圆点：实测用时除以预测用时；三角：两行相除得到的倍数。"
        "共 {count} 行，其中 {near} 行相差不到 20%。差得最远的是第 {where} 章的 {far}，比值 {ratio:.2g}。"),
    "chapter": ("chapter", "章"),
    "row": ("row", "行"),
    "over": ("time over predicted", "用时比预测"),
})
def predicted(book, say, top=44):
    ours, yours = sorted(ratios(book.results), key=lambda p: p[2]), list(ratios(book.yours))
    if not ours:
        raise Missing("no row with a prediction in any results")
    x, ticks = log_axis([0.5, 2, *(v for _, _, v in ours + yours)], 44, 386)
    bottom, lanes = top, []
    for number in sorted({n for n, _, _ in ours + yours}):
        dots = [("ratio" if r["unit"] == "times" else "measured", v)
                for n, r, v in ours if n == number]
        dots = stacked(dots + [("yours", v) for n, _, v in yours if n == number], x)
        levels = [level for level, _ in dots]
        lanes.append((number, bottom, 12 - 12 * min(levels), dots))
        bottom += 24 + 12 * (max(levels) - min(levels))

    d = Drawing(bottom + 46)
    styles = {"measured": "read", "ratio": "other", "yours": "write"}
    d.rect(x(0.8), top, x(1.2) - x(0.8), bottom - top, "band")
    d.legend(14, [("measured", "read", say("time")), ("ratio", "other", say("ratio")),
                  *([("yours", "write", say("yours"))] if yours else [])])
    d.text(x(1), top - 8, "±20%", "tick", "middle")
    for t in ticks:
        d.line(x(t), top, x(t), bottom, "grid")
        d.text(x(t), bottom + 20, short(t), "tick", "middle")
    d.line(x(1), top, x(1), bottom, "one")
    for number, y, middle, dots in lanes:
        d.line(0, y, WIDTH, y, "lane")
        d.text(4, y + middle + 5, number, "strong")
        for level, (shape, v) in dots:
            d.mark(shape, x(v), y + middle + 12 * level, styles[shape], r=4)
    d.line(0, bottom, WIDTH, bottom, "axis")
    d.text(0, bottom + 42, say("faster"), "name")
    d.text(WIDTH, bottom + 42, say("slower"), "name", "end")
    where, far, ratio = max(ours, key=lambda p: abs(log2(p[2])))
    cells = [(n, r["id"], book.number(r["predicted"], r["unit"]),
              book.number(r["measured"]["median"], r["unit"]), f"{v:.2f}")
             for n, r, v in ratios(book.results)]
    return d, {"count": len(ours), "near": sum(0.8 <= v <= 1.2 for _, _, v in ours),
               "far": far["id"], "where": where, "ratio": ratio}, (
        ("chapter", "row", "predicted", "measured", "over"), cells)


# Where in GPT-2 we are
# ---------------------

PARTS = {  # left, top, width, height
    "tokenizer": (0, 30, 92, 30), "embedding": (0, 82, 92, 30), "layers": (106, 22, 192, 98),
    "attention": (114, 32, 84, 30), "mlp": (114, 82, 84, 30), "kv_cache": (214, 32, 76, 30),
    "head": (314, 82, 72, 30), "sampler": (314, 30, 72, 30), "loop": None}
ARROWS = ([(46, 16), (46, 28)], [(46, 60), (46, 80)], [(92, 97), (104, 97)],
          [(156, 62), (156, 80)], [(198, 42), (212, 42)], [(214, 53), (200, 53)],
          [(298, 97), (312, 97)], [(350, 82), (350, 62)], [(350, 30), (350, 16)])
MAP = {
    "tokenizer": ("tokenizer", "分词器"),
    "embedding": ("embedding", "嵌入"),
    "layers": ("12 layers", "12 层"),
    "attention": ("attention", "注意力"),
    "mlp": ("MLP", "MLP"),
    "kv_cache": ("KV cache", "KV 缓存"),
    "head": ("head", "输出层"),
    "sampler": ("sampler", "采样器"),
    "loop": ("the next token goes round", "下一个 token 再走一圈"),
    "text": ("text", "文字"),
    "and": (", ", "、"),
    "title": ("Where in GPT-2 we are: {lit}", "我们在 GPT-2 的这里：{lit}"),
    "desc": ("Text goes through the tokenizer and the embedding into 12 layers of attention and "
             "MLP, with the KV cache beside attention, then through the head to the sampler. The "
             "token it picks comes out as text and goes in again.",
             "文字经过分词器和嵌入，进入 12 层注意力和 MLP，KV 缓存在注意力旁边；再经过输出层到采样器。"
             "选出的 token 变成文字，同时再送回去。"),
}


def map(book, lit):
    """GPT-2 from text to text, with the named parts (joined by +) filled."""
    say, parts, d = Words(book, MAP), lit.split("+"), Drawing(150)
    if unknown := set(parts) - set(PARTS):
        raise Missing(f"no part '{unknown.pop()}' in the map; there are {', '.join(PARTS)}")
    on = {part: " lit" if part in parts else "" for part in PARTS}
    for part, box in PARTS.items():
        if part == "layers":
            d.rect(*box, "frame" + on[part], rx=8)
            d.text(248, 102, say(part), "strong" if on[part] else "tick", "middle")
        elif box:
            d.rect(*box, "part" + on[part], rx=6)
            d.text(box[0] + box[2] / 2, box[1] + 20, say(part), "onlit" if on[part] else "tick",
                   "middle")
    for x in (46, 350):
        d.text(x, 14, say("text"), "tick", "middle")
    for points in ARROWS:
        d.arrow(points)
    d.arrow([(386, 45), (397, 45), (397, 138), (46, 138), (46, 114)], "flow" + on["loop"])
    wide = width(say("loop")) + 14
    d.rect(214 - wide / 2, 128, wide, 20, "plate")
    d.text(214, 143, say("loop"), "strong" if on["loop"] else "tick", "middle")
    name = "map-" + "-".join(parts)
    title = say("title", lit=say("and").join(say(part) for part in parts))
    return f'<figure class="figure map" id="fig-{name}">{d.svg(name, title, say("desc"))}</figure>'


# The library
# -----------


@figure("house", {
    "title": ("The house: chapters, lib/lab, lib/gpt2 and lib/ledger",
              "这座房子：chapters、lib/lab、lib/gpt2、lib/ledger"),
    "chapters/": ("{first} to {last}:|one experiment each, each stands alone",
                  "{first} 到 {last}：|一章一个实验，互不包含"),
    "lib/lab": ("options, the two ceilings, repeats,|tables, results",
                "选项、两个上限、重复测量、|表格、结果文件"),
    "lib/gpt2": ("text in, logits out", "文字进，logits 出"),
    "lib/ledger": ("bytes,|FLOPs,|seconds:|arithmetic|only,|measures|nothing",
                   "字节、|FLOPs、|秒：|只管算账，|什么也不量"),
    "tokenizer": ("text and tokens", "文字与 token"),
    "weights": ("all parameters", "全部参数"),
    "kv_cache": ("keys, values kept", "留下来的键和值"),
    "model": ("one verb: forward", "一个动词：forward"),
    "cpu": ("the fast engine", "跑得快的引擎"),
    "reference": ("the definition", "一切以它为准"),
    "caption": (
        "An arrow means: includes. Chapters include all three libraries. lib/ledger takes from "
        "lib/gpt2 nothing but the shape of a model, its Config.",
        "箭头的意思是“包含”。各章包含三个库。lib/ledger 只从 lib/gpt2 拿模型的形状（Config）。"),
})
def house(book, say):
    names = [run["chapter"] for _, run in sorted(book.results.items())]
    d = Drawing(462)
    for x, y, w, h, name in ((0, 0, 400, 72, "chapters/"), (50, 116, 300, 72, "lib/lab"),
                             (0, 232, 250, 230, "lib/gpt2"), (284, 232, 116, 230, "lib/ledger")):
        d.rect(x, y, w, h, "part", rx=8)
        d.text(x + 12, y + 22, name, "code strong")
        for i, line in enumerate(say(name, first=names[0], last=names[-1]).split("|")):
            d.text(x + 12, y + 42 + 20 * i, line)
    for i, part in enumerate(("tokenizer", "weights", "kv_cache", "model", "cpu", "reference")):
        d.text(12, 304 + 26 * i, part, "code strong")
        d.text(104, 304 + 26 * i, say(part))
    for x, top, end in ((200, 72, 114), (25, 72, 230), (375, 72, 230), (150, 188, 230),
                        (316, 188, 230)):
        d.arrow([(x, top), (x, end)])
    d.arrow([(284, 441), (252, 441)])
    d.text(WIDTH - 12, 446, "Config", "code tick", "end")
    return d, {}


# The figures of one chapter, where they stand in a file of their own.
for file in sorted(Path(__file__).parent.glob("figures_*.py")):
    import_module(file.stem)
