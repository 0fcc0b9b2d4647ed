"""The book's figures: one function each, from a results file to HTML, in two languages.

make(book, name) gives one figure. Every number in it, and in what a screen reader says
of it, comes from the results; whatever is missing there raises Missing. The words of
both languages stand beside the drawing that they belong to.
"""

import re
from collections import Counter
from quantities import Missing
from html import escape
from itertools import accumulate
from math import atan2, degrees, floor, log2, log10

from quantities import Missing
from svg import WIDTH, Drawing, Plot, between, decades, linear, log, steps, width

FIGURES = {}


def figure(name):
    def enter(draw):
        FIGURES[name] = draw
        return draw
    return enter


def make(book, name):
    """The figure as HTML, in the book's language."""
    if name not in FIGURES:
        raise Missing(f"no figure '{name}'; there are {', '.join(sorted(FIGURES))}")
    return FIGURES[name](book)


# What the figures read from the results

def chapter(book, number):
    if number not in book.results:
        raise Missing(f"no results of chapter {number}")
    return book.results[number]


def exhibit(book, number, name):
    """The rows of an exhibit, each a dict by column."""
    for shown in chapter(book, number).get("exhibits", []):
        if shown["id"] == name and shown["rows"]:
            return [dict(zip(shown["columns"], row)) for row in shown["rows"]]
    raise Missing(f"no exhibit '{name}' in the results of chapter {number}")


def row(book, number, name):
    for one in chapter(book, number)["rows"]:
        if one["id"] == name:
            return one
    raise Missing(f"no row '{name}' in the results of chapter {number}")


def median(book, number, name):
    return row(book, number, name)["measured"]["median"]


def note(book, number, name):
    for one in chapter(book, number)["notes"]:
        if one["id"] == name:
            return one["value"]
    raise Missing(f"no note '{name}' in the results of chapter {number}")


# How the figures say it

def say(book, en, zh):
    return zh if book.lang == "zh" else en


def nice(value):
    """The largest of 1, 1.5, 2, 3, 5, 8 times a power of ten that is no more."""
    one = 10.0 ** floor(log10(value))
    return one * max(m for m in (1, 1.5, 2, 3, 5, 8) if one * m <= value * 1.000001)


def millions(book, count):
    return say(book, f"{count / 1e6:.0f} million", f"{count / 1e8:.2f} 亿")


def plain(value):
    """A number of an axis: three digits at most."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def shown(piece):
    """A token's text with its blanks and line ends in sight."""
    return piece.replace(" ", "␣").replace("\n", "\\n").replace("\t", "\\t")


PART = re.compile(r"(?:\\x[0-9a-f]{2})+")  # bytes that are no whole character


def piece_html(piece):
    """The same in HTML: blanks pale, lone bytes small, in hexadecimal."""
    html = escape(shown(piece)).replace("␣", '<span class="blank">␣</span>')
    return PART.sub(lambda m: '<span class="part">' +
                    m[0].replace("\\x", " ").strip().upper() + "</span>", html)


def chip(piece, css, title=""):
    css += " broken" if PART.search(piece) else ""
    return (f'<span class="chip {css}"' + (f' title="{escape(title)}"' if title else "") +
            f">{piece_html(piece)}</span>")


def numbers(book, head, rows):
    """The table that unfolds below a figure."""
    def cells(tag, values):
        return "".join(f"<{tag}>{escape(str(v))}</{tag.split()[0]}>" for v in values)
    body = "".join(f"<tr>{cells('td', r)}</tr>" for r in rows)
    return (f'<details class="numbers"><summary>{say(book, "The numbers", "具体数字")}</summary>'
            f'<div class="scroll" tabindex="0"><table class="data"><thead><tr>'
            f'{cells("th scope=col", head)}</tr></thead><tbody>{body}</tbody></table></div></details>')


def framed(name, body, caption, table=""):
    return (f'<figure class="figure" id="fig-{name}">{body}'
            f"<figcaption>{escape(caption)}</figcaption>{table}</figure>")


def legend(d, y, entries, x=0):
    """Marks and what they mean, one beside the other: (shape, css, words)."""
    for shape, css, words in entries:
        if x and x + 20 + width(words) > WIDTH:
            x, y = 0, y + 20
        if shape == "swatch":
            d.rect(x, y - 11, 13, 13, css, rx=2)
        else:
            d.mark(shape, x + 7, y - 5, css)
        d.text(x + 19, y, words)
        x += 19 + width(words) + 16
    return y


def predicted_measured(book, css="read"):
    return [("predicted", css, say(book, "predicted", "预测")),
            ("measured", css, say(book, "measured", "实测"))]


# 00: a wait, then a beat

@figure("00-beats")
def beats(book, lines=6):
    rows = exhibit(book, "00", "beats")
    times = list(accumulate(r["seconds"] for r in rows))  # each is counted from the token before
    gaps = [r["seconds"] for r in rows[1:]] or [times[0]]
    middle = sorted(gaps)[len(gaps) // 2]
    # A line of the drawing lasts as long as lets nine of ten pieces fit before the next.
    need = sorted((width(shown(r["piece"])) + 10) / max(g, middle / 4) for r, g in zip(rows, gaps))
    line = nice(max(362 / need[int(0.9 * (len(need) - 1))], times[0] / 2))
    seen = [(t, shown(r["piece"])) for t, r in zip(times, rows) if t < line * lines]
    count, pitch = int(seen[-1][0] / line) + 1, 64
    d = Drawing("00-beats", pitch * count + 2)
    for k in range(count):
        base = pitch * k + 40
        d.line(0, base, 362, base, "axis")
        d.text(0, base + 18, book.number(k * line, "s") if k else "0", "tick")
        if times[0] > k * line:
            d.rect(0, base - 10, 362 * min(1, times[0] / line - k), 10, "bar read")
    d.text(18, 58, say(book, "wait: ", "等待：") + book.number(times[0], "s"), "read")
    edges = {}
    for t, words in seen:
        k = int(t / line)
        x, base = 362 * (t / line - k), pitch * k + 40
        at = min(x - 1, WIDTH - width(words) - 1)
        level = next((i for i in (0, 1) if edges.get((k, i), -9) + 3 <= at), None)
        d.line(x, base - 12 - 14 * (level or 0), x, base, "whisker write")
        if level is not None:
            d.text(at, base - 15 - 14 * level, words)
            edges[k, level] = at + width(words)
    title = say(book, "A streamed answer as a time line", "流式输出的时间线")
    wait, beat = book.number(times[0], "s"), book.number(middle, "s")
    words = say(book,
                f"Time runs from left to right, line by line. A wait of {wait} while the prompt is "
                f"read, then a tick for each token, {beat} apart in the middle. "
                f"{len(seen)} of {len(rows)} tokens are shown.",
                f"时间从左到右，一行接一行。先等 {wait}，这是在读提示；然后每个 token 一格，"
                f"间隔的中位数是 {beat}。图里画出 {len(rows)} 个 token 中的前 {len(seen)} 个。")
    return framed("00-beats", d.svg(title, words), words)


# 01: text becomes tokens

TEXTS = {"english": "英文", "chinese": "中文", "code": "代码", "emoji": "表情符号"}


def text_name(book, name):
    return say(book, name.capitalize(), TEXTS.get(name, name))


def bill_rows(book):
    rows = {r["id"]: r for r in chapter(book, "01")["rows"]
            if re.fullmatch(r"1,000 characters: .*, [\d,]+ entries", r["what"])}
    if not rows:
        raise Missing("no rows '1,000 characters' in the results of chapter 01")
    return rows


def vocabularies(book):
    """Vocabulary, as the rows' ids name it, to its number of entries."""
    return {name.split("_")[-1]: re.search(r"([\d,]+) entries$", r["what"])[1]
            for name, r in bill_rows(book).items()}


@figure("01-chips")
def chips(book):
    groups = {}
    for r in exhibit(book, "01", "chips"):
        groups.setdefault(r["text"], {}).setdefault(r["vocabulary"], []).append(r)
    entries, html = vocabularies(book), []
    for text, by_vocabulary in groups.items():
        html.append(f'<p class="chips-text">{escape(text_name(book, text))}</p>')
        for vocabulary, tokens in by_vocabulary.items():
            size = entries.get(vocabulary, vocabulary)
            label = say(book, f"vocabulary of {size}: {len(tokens)} tokens",
                        f"词表 {size} 项：{len(tokens)} 个 token")
            html.append(f'<p class="chips-label">{escape(label)}</p><p class="chips">' + "".join(
                chip(t["piece"], f"tint{i % 4}", f"{t['token']:.0f}") for i, t in enumerate(tokens)) + "</p>")
    caption = say(book,
                  "Each chip is a token; its colour only parts it from its neighbours. ␣ is a blank. "
                  "A broken edge: bytes, in hexadecimal, that are only part of a character.",
                  "一块是一个 token，颜色只用来区分相邻的两块。␣ 是空格。"
                  "虚线框里是字节（十六进制），只是一个字的一部分。")
    return framed("01-chips", "".join(html), caption)


@figure("01-bill")
def bill(book):
    entries = vocabularies(book)
    values = {name: r["measured"]["median"] for name, r in bill_rows(book).items()}
    texts = list(dict.fromkeys(name.split("_")[0] for name in values))
    styles = dict(zip(entries, ("bar read", "bar write open")))
    d = Drawing("01-bill", 40 + 78 * len(texts))
    top = legend(d, 14, [("swatch", styles[v], say(book, f"{n} entries", f"词表 {n} 项"))
                         for v, n in entries.items()])
    x = linear(0, max(values.values()), 0, 340)
    for i, text in enumerate(texts):
        y = top + 16 + 78 * i
        d.text(0, y + 12, text_name(book, text), "strong")
        for k, v in enumerate(entries):
            value = values.get(f"{text}_{v}")
            if value is not None:
                d.rect(0, y + 19 + 22 * k, x(value), 17, styles[v], rx=2)
                d.text(x(value) + 7, y + 33 + 22 * k, book.number(value))
    words = say(book, "Tokens for 1,000 characters: ", "每 1,000 个字符的 token 数：") + say(
        book, "; ", "；").join(
        f"{text_name(book, t)} " + say(book, " and ", " 和 ").join(
            book.number(values[f"{t}_{v}"]) for v in entries if f"{t}_{v}" in values)
        for t in texts) + say(book, ".", "。")
    title = say(book, "Tokens per 1,000 characters", "每 1,000 个字符有多少 token")
    return framed("01-bill", d.svg(title, words), say(
        book, "Tokens per 1,000 characters of each text, under two vocabularies. Shorter is cheaper.",
        "每种文本 1,000 个字符切成多少 token，两份词表各算一次。越短越便宜。"))


@figure("01-merges")
def merges(book):
    stages = {}
    for r in exhibit(book, "01", "merges"):
        stages.setdefault(r["step"], []).append(r["piece"])
    html, before = [], None
    for number, (step, pieces) in enumerate(stages.items()):
        fresh = Counter(pieces) - Counter(before) if before else Counter()
        html.append("<li>" + '<span class="chips">' + "".join(
            chip(p, "merged" if fresh[p] else "tint0") for p in pieces) + "</span></li>")
        before = pieces
    first, last = next(iter(stages.values())), before
    caption = say(book,
                  f"From {len(first)} bytes to {len(last)} token{'s' * (len(last) > 1)} in {len(stages) - 1} merges. "
                  "Each line applies the earliest rule that fits; the framed chip is what it made.",
                  f"{len(first)} 个字节，合并 {len(stages) - 1} 次，剩下 {len(last)} 个 token。"
                  "每一行用上最靠前的那条合并规则，加粗框的就是刚合出来的。")
    return framed("01-merges", f'<ol class="merges" start="0">{"".join(html)}</ol>', caption)


# 02: a table of candidates

@figure("02-candidates")
def candidates(book):
    rows = exhibit(book, "02", "candidates")[:10]
    left = min(130, max(width(shown(r["piece"])) for r in rows)) + 10
    x = linear(0, max(r["percent"] for r in rows), left, 268)
    d = Drawing("02-candidates", 26 + 27 * len(rows))
    d.text(338, 14, "%", "tick", "end")
    d.text(WIDTH, 14, say(book, "bits", "比特"), "tick", "end")
    for i, r in enumerate(rows):
        y = 24 + 27 * i
        d.text(left - 8, y + 15, shown(r["piece"]), "", "end")
        d.rect(left, y, max(1.0, x(r["percent"]) - left), 20, "bar read", rx=2)
        d.text(338, y + 15, f"{r['percent']:.2f}", "", "end")
        d.text(WIDTH, y + 15, f"{r['bits']:.2f}", "tick", "end")
    total = sum(r["percent"] for r in rows)
    title = say(book, "The first candidates for the next token", "下一个 token 的候选表（前几名）")
    words = say(book, "; ", "；").join(say(
        book, f"{shown(r['piece'])} {r['percent']:.2f}%, {r['bits']:.2f} bits",
        f"{shown(r['piece'])} {r['percent']:.2f}%，{r['bits']:.2f} 比特") for r in rows)
    return framed("02-candidates", d.svg(title, words), say(
        book, f"The first {len(rows)} candidates hold {total:.1f}% together; all other tokens share the rest. "
              "The right column is the surprise if that token comes.",
        f"前 {len(rows)} 名加起来占 {total:.1f}%，剩下的归词表里所有别的 token。"
        "最右一列：真来了这个 token，有多意外。"))


LEVELS = (1, 4, 8, 12)  # bits: where one colour ends


@figure("02-along")
def along(book):
    rows = exhibit(book, "02", "along")
    level = [sum(r["bits"] >= edge for edge in LEVELS) for r in rows]
    html = "".join(
        f'<span class="bits b{b}" title="{book.number(r["bits"], "bits")}">{piece_html(r["piece"])}</span>'
        if not shown(r["piece"]).startswith("␣") else
        f' <span class="bits b{b}" title="{book.number(r["bits"], "bits")}">{piece_html(shown(r["piece"])[1:]) or "␣"}</span>'
        for r, b in zip(rows, level))
    names = [say(book, "under 1 bit", "不到 1 比特")]
    names += [say(book, f"{a} to {b}", f"{a} 到 {b}") for a, b in zip(LEVELS, LEVELS[1:])]
    names += [say(book, f"{LEVELS[-1]} or more", f"{LEVELS[-1]} 以上")]
    key = "".join(f'<li><span class="bits b{i}">{escape(n)}</span>'
                  f' <span class="count">× {level.count(i)}</span></li>' for i, n in enumerate(names))
    mean = sum(r["bits"] for r in rows) / len(rows)
    sure = sum(r["percent_first"] > 90 for r in rows)
    body = (f'<p class="along" lang="en">{html.strip()}</p>'
            f'<ul class="key" aria-label="{say(book, "Legend", "图例")}">{key}</ul>')
    return framed("02-along", body, say(
        book, f"{len(rows)} tokens of the text, by surprise: the deeper the colour and the thicker the line, the "
              f"less the model expected them. Mean {mean:.1f} bits; the first candidate was above 90% at {sure}.",
        f"文中 {len(rows)} 个 token 各有多意外：颜色越深、下划线越粗，模型越没想到。"
        f"平均 {mean:.1f} 比特；第一名超过 90% 的位置有 {sure} 个。"))


# 03: every position at once

@figure("03-attention")
def attention(book):
    pieces = [shown(r["piece"]) for r in sorted(exhibit(book, "03", "attention_tokens"),
                                                 key=lambda r: r["position"])]
    weight = {(int(r["query"]), int(r["key"])): r["weight"] for r in exhibit(book, "03", "attention")}
    layer, head = note(book, "03", "attention_layer"), note(book, "03", "attention_head")
    n, longest = len(pieces), max(width(p) for p in pieces)
    left = longest + 8
    cell = min(34.0, (WIDTH - left - 2) / n)
    top, right, bottom = 4, left + cell * n, 4 + cell * n
    d = Drawing("03-attention", bottom + longest * 0.82 + 20)
    d.add("defs", '<pattern id="03-attention-hatch" width="7" height="7" patternUnits="userSpaceOnUse" '
                  'patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="7" class="hatch"/></pattern>')
    stairs = [(left + cell * (q + 1), top + cell * (q + e)) for q in range(n - 1) for e in (0, 1)]
    d.path(stairs + [(right, bottom - cell), (right, top)], "masked", close=True, fill="url(#03-attention-hatch)")
    for q, piece in enumerate(pieces):
        d.text(left - 6, top + cell * (q + 0.5) + 5, piece, "", "end")
        x, y = left + cell * (q + 0.5) + 5, bottom + 14
        d.text(x, y, piece, "", "end", transform=f"rotate(-55 {x:.1f} {y:.1f})")
        for k in range(q + 1):
            side = cell * min(1, max(0, weight.get((q, k), 0))) ** 0.5
            d.rect(left + cell * k + .5, top + cell * q + .5, cell - 1, cell - 1, "cell")
            d.rect(left + cell * (k + .5) - side / 2, top + cell * (q + .5) - side / 2, side, side, "bar read")
    label = say(book, "masked: not read yet", "遮住：后面的还看不见")
    x, y = left + cell * n * 0.66, top + cell * n * 0.22
    d.rect(x - width(label) / 2 - 6, y - 16, width(label) + 12, 24, "plate", rx=4)
    d.text(x, y + 1, label, "", "middle")
    strong = []
    for q in range(n):
        k = max(range(q + 1), key=lambda k: weight.get((q, k), 0))
        strong.append((pieces[q], pieces[k], f"{100 * weight.get((q, k), 0):.0f}%"))
    title = say(book, "Attention of one head over a sentence", "一个注意力头在一句话上的注意力")
    words = say(book, "Each row is a token and how it shares its attention among the tokens up to itself. Strongest: ",
                "每一行是一个 token，看它把注意力怎么分给自己和前面的 token。分得最多的：") + say(
        book, "; ", "；").join(f"{a} → {b} {w}" for a, b, w in strong)
    return framed("03-attention", d.svg(title, words), say(
        book, f"Layer {layer:.0f}, head {head:.0f}, counted from 0. A row for each token, a column for each token it may look at. The larger the square, the more of its "
              "attention goes there; a row adds up to 100%. Above the diagonal nothing is allowed: the causal mask.",
        f"第 {layer:.0f} 层第 {head:.0f} 头（从 0 数起）。一行是一个 token，一列是它能看的一个 token。方块越大，注意力给得越多，每行合计 100%。"
        "对角线以上一概不许看：这就是因果遮罩。"),
        numbers(book, [say(book, "token", "token"), say(book, "looks most at", "最关注"),
                       say(book, "weight", "权重占比")], strong))


def two_curves(book, name, points, xname, yname, title, desc, caption, table, xlog=False, css="read", whiskers=None):
    """Predicted (dashed, hollow) and measured (solid, filled) against one quantity."""
    d = Drawing(name, 310)
    xs = [p[0] for p in points]
    yticks = steps(max(max(p[1:]) for p in points) * 1.05, 4)
    x = log(xs[0], xs[-1], 66, 380) if xlog else linear(0, xs[-1], 66, 380)
    plot = Plot(d, x, linear(0, yticks[-1], 262, 52), 54, 52, 392, 262)
    inner = xs if xlog and len(xs) < 7 else [t for t in steps(xs[-1], 4) if t <= xs[-1]]
    plot.axes(inner, yticks, xname, yname)
    legend(d, 36, predicted_measured(book, css))
    for low, high, at in whiskers or []:
        plot.whisker(at, low, high, css)
    for shape, i in (("predicted", 1), ("measured", 2)):
        plot.curve([(p[0], p[i]) for p in points], css + " " + shape)
        for p in points:
            plot.mark(shape, p[0], p[i], css)
    return framed(name, d.svg(title, desc), caption, table)


@figure("03-pass")
def one_pass(book):
    rows = [(int(m[1]), r) for r in chapter(book, "03")["rows"] if (m := re.fullmatch(r"read_(\d+)", r["id"]))]
    if len(rows) < 2:
        raise Missing("no rows 'read_N' in the results of chapter 03")
    points = [(n, r["predicted"], r["measured"]["median"]) for n, r in sorted(rows, key=lambda p: p[0])]
    listed = say(book, "; ", "；").join(say(
        book, f"{n} at once: predicted {book.number(p)}, measured {book.number(m)}",
        f"一次 {n} 个：预测 {book.number(p)}，实测 {book.number(m)}") for n, p, m in points)
    return two_curves(
        book, "03-pass", points, say(book, "tokens in one pass", "一次前向计算的 token 数"),
        say(book, "tokens a second", "每秒 token 数"),
        say(book, "Reading speed against tokens read at once", "读的速度与一次读入的 token 数"),
        listed, say(book, "How fast one pass reads, by how many tokens it is given. Bars: fastest and slowest run.",
                    "一次给它多少个 token，读得有多快。竖线：最快和最慢的一次。"),
        numbers(book, [say(book, "tokens", "token 数"), say(book, "predicted, token/s", "预测，token/s"),
                       say(book, "measured, token/s", "实测，token/s")], [(n, book.number(p), book.number(m)) for n, p, m in points]),
        xlog=True, whiskers=[(r["measured"]["min"], r["measured"]["max"], n) for n, r in rows])


# 04: one trip of the weights

@figure("04-bytes")
def bytes_of_a_token(book):
    read = note(book, "04", "bytes_per_token_read")
    write = note(book, "04", "bytes_per_token_write")
    flops = note(book, "04", "flops_per_token")
    d, side = Drawing("04-bytes", 372), 120
    for k, (head, css) in enumerate(((say(book, "reading", "读"), "read"), (say(book, "writing", "写"), "write"))):
        d.text(105 + 190 * k, 14, head, "strong " + css, "middle")
    for top, what, pair, unit in (
            (26, say(book, "bytes fetched for a token", "一个 token 要搬的字节"), (read, write),
             lambda v: book.number(v, "bytes")),
            (204, say(book, "arithmetic of a token", "一个 token 的计算量"), (flops, flops),
             lambda v: millions(book, v) + " FLOP")):
        d.text(WIDTH / 2, top + 12, what, "tick", "middle")
        for k, value in enumerate(pair):
            a = max(1.5, side * (value / max(pair)) ** 0.5)
            d.rect(105 + 190 * k - a / 2, top + 22 + side - a, a, a, ("bar read", "bar write")[k], rx=min(2, a / 4))
            d.text(105 + 190 * k, top + 40 + side, unit(value), "", "middle")
    words = say(book, f"Bytes fetched for a token: {book.number(read, 'bytes')} when reading 512 at once, "
                      f"{book.number(write, 'bytes')} when writing. Arithmetic: {millions(book, flops)} FLOP either way.",
                f"一个 token 要搬的字节：一次读 512 个时 {book.number(read, 'bytes')}，"
                f"写时 {book.number(write, 'bytes')}。计算量都是 {millions(book, flops)} FLOP。")
    return framed("04-bytes", d.svg(say(book, "Bytes and arithmetic of a token, reading and writing",
                                        "读和写：一个 token 的字节与计算量"), words), say(
        book, f"Areas are to scale. The arithmetic is the same; the bytes differ {write / read:,.0f} times, because "
              "reading shares one trip of the weights among 512 tokens and writing makes the trip for each.",
        f"面积按比例画。计算量一样，字节差 {write / read:,.0f} 倍：读的时候，512 个 token 合用一趟权重；"
        "写的时候，一个 token 就要搬一趟。"))


def dot_rows(book, name, groups, axis, title, desc, caption, table="", label=104):
    """Rows of marks on one log axis. groups: (heading, css, rows); a row is
    (words, value at the right, (low, high) or None, [(shape, number)])."""
    values = [v for _, _, rows in groups for _, _, span, marks in rows for v in [*(span or ()), *(m[1] for m in marks)]]
    low, high, ticks = between(min(values), max(values))
    x = log(low, high, label, 318)
    height = sum(26 + 26 * len(rows) for _, _, rows in groups)
    d = Drawing(name, height + 46)
    for t in ticks:
        d.line(x(t), 22, x(t), height + 4, "grid")
        d.text(x(t), height + 20, plain(t), "tick", "middle")
    d.text(WIDTH, height + 42, axis, "name", "end")
    y = 0
    for heading, css, rows in groups:
        d.text(0, y + 15, heading, "strong " + css)
        y += 26
        for words, value, span, marks in rows:
            d.text(0, y + 14, words)
            d.line(label, y + 9, 318, y + 9, "lane")
            if span:
                d.line(x(span[0]), y + 9, x(span[1]), y + 9, "whisker " + css)
            for shape, v in marks:
                d.mark(shape, x(v), y + 9, css)
            d.text(WIDTH, y + 14, value, "", "end")
            y += 26
    return framed(name, d.svg(title, desc), caption, table)


@figure("04-rates")
def rates(book):
    groups, said = [], []
    for name, css, head in (("read_512", "read", say(book, "reading 512 at once", "一次读 512 个")),
                            ("write_511", "write", say(book, "writing 511, one by one", "一个一个写 511 个"))):
        r = row(book, "04", name)
        m, rows = r["measured"], []
        for shape, words, value in (("predicted", say(book, "predicted", "预测"), r["predicted"]),
                                    ("measured", say(book, "measured", "实测"), m["median"]),
                                    ("course", say(book, "the course", "课程"), book.course[name]["value"])):
            span = (m["min"], m["max"]) if shape == "measured" else None
            rows.append((words, book.number(value), span, [(shape, value)]))
            said.append(f"{head}{say(book, ', ', '，')}{words} {book.number(value)} token/s")
        groups.append((head, css, rows))
    return dot_rows(
        book, "04-rates", groups, "token/s",
        say(book, "Reading and writing, tokens a second", "读和写，每秒多少 token"),
        say(book, "; ", "；").join(said),
        say(book, "Tokens a second, on a logarithmic axis. Bars span the slowest and the fastest run; the course is its laptop.",
            "每秒 token 数，对数刻度：横线从最慢到最快的一次；“课程”是课程里那台笔记本。"))


# 05: with a cache and without

@figure("05-elapsed")
def elapsed(book):
    rows = exhibit(book, "05", "elapsed")
    ends = [(n, way, row(book, "05", f"cache_{n}_{way}_seconds")["predicted"])
            for n in (256, 768) for way in ("with", "without")]
    last = rows[-1]
    most = max(max(r["without_seconds"] for r in rows), *(p for n, _, p in ends if n <= last["tokens"]))
    d, yticks = Drawing("05-elapsed", 324), steps(most * 1.03, 4)
    plot = Plot(d, linear(0, last["tokens"], 54, 388), linear(0, yticks[-1], 276, 44), 54, 44, 392, 276)
    plot.axes([t for t in steps(last["tokens"], 4) if t <= last["tokens"]], yticks,
              say(book, "tokens written", "写出的 token 数"), say(book, "seconds", "秒"))
    for way, css in (("without", "write"), ("with", "read")):
        plot.curve([(0, 0)] + [(r["tokens"], r[way + "_seconds"]) for r in rows], css + " measured")
        plot.mark("measured", last["tokens"], last[way + "_seconds"], css)
    for n, way, seconds in ends:
        if n <= last["tokens"]:
            plot.mark("predicted", n, seconds, "read" if way == "with" else "write")
    a, b = last["without_seconds"], last["with_seconds"]
    without = say(book, "without a cache", "没有缓存")
    kept = say(book, "with one", "有缓存")
    d.text(plot.x(last["tokens"]) - 16, max(58, plot.y(a) + 5), f"{without} {book.number(a, 's')}", "write strong", "end")
    d.text(plot.x(last["tokens"]), plot.y(b) - 14, f"{kept} {book.number(b, 's')}", "read strong", "end")
    legend(d, 34, predicted_measured(book, "neutral"), x=54)
    words = say(book, f"After {last['tokens']} tokens: {book.number(a, 's')} without a KV cache, on a curve that bends up; "
                      f"{book.number(b, 's')} with one, on a line that is nearly straight.",
                f"写到第 {last['tokens']} 个 token：没有 KV 缓存用了 {book.number(a, 's')}，曲线越走越陡；"
                f"有缓存用了 {book.number(b, 's')}，差不多是条直线。")
    return framed("05-elapsed", d.svg(say(book, "Seconds against tokens written, with a KV cache and without",
                                          "有无 KV 缓存：写出的 token 数与用时"), words), words,
                  numbers(book, [say(book, "tokens", "token 数"), say(book, "with, s", "有缓存，秒"),
                                 say(book, "without, s", "没有缓存，秒")],
                          [(r["tokens"], f"{r['with_seconds']:.3g}", f"{r['without_seconds']:.3g}") for r in rows[3::4]]))


@figure("05-memory")
def memory(book):
    def size(value):
        return book.number(value, "bytes")

    f32, f16 = note(book, "05", "kv_per_token_f32"), note(book, "05", "kv_per_token")
    big = note(book, "05", "kv_8b_per_token")
    short, long_ = note(book, "05", "kv_full") / f16, note(book, "05", "kv_8b_128k") / big
    lines = ((say(book, "8B model, f16", "8B 模型，f16"), big, long_, "write"),
             ("GPT-2 small, f32", f32, short, "read"), ("GPT-2 small, f16", f16, short, "other dashed"))
    d = Drawing("05-memory", 382)
    for i, (words, each, most, css) in enumerate(lines):
        d.line(0, 9 + 20 * i, 26, 9 + 20 * i, "curve " + css)
        d.text(32, 14 + 20 * i, words)
        d.text(WIDTH, 14 + 20 * i, say(book, f"{size(each)} a token", f"每个 token {size(each)}"), "", "end")
    plot = Plot(d, log(1, long_ * 1.1, 66, 388), log(2**14, 2**36, 334, 78), 62, 78, 392, 334)
    plot.axes([], [], say(book, "tokens in the cache", "缓存里的 token 数"), "")
    for t in (1, 32, short, long_):
        d.line(plot.x(t), 334, plot.x(t), 339, "axis")
        d.text(min(plot.x(t), 371), 354, f"{t:,.0f}", "tick", "middle")
    for e in (16, 20, 24, 28, 32, 36):
        d.line(62, plot.y(2**e), 392, plot.y(2**e), "grid")
        d.text(56, plot.y(2**e) + 5, size(2**e), "tick", "end")
    for words, each, most, css in lines:
        plot.curve([(1, each), (most, each * most)], css)
        plot.mark("measured", most, each * most, css)
    d.text(plot.x(long_) - 10, plot.y(big * long_) - 4, size(big * long_), "write strong", "end")
    d.text(plot.x(short) + 10, plot.y(f32 * short) + 8, size(f32 * short), "read strong")
    d.text(plot.x(short) + 10, plot.y(f16 * short) + 16, size(f16 * short), "other strong")
    words = say(book, f"GPT-2 small at {short:,.0f} tokens: {size(f32 * short)} in f32, {size(f16 * short)} in f16. "
                      f"An 8B model at {long_:,.0f} tokens: {size(big * long_)}.",
                f"GPT-2 small 在 {short:,.0f} 个 token 时：f32 占 {size(f32 * short)}，f16 占 {size(f16 * short)}。"
                f"8B 模型在 {long_:,.0f} 个 token 时：{size(big * long_)}。")
    return framed("05-memory", d.svg(say(book, "Size of the KV cache against tokens kept",
                                         "KV 缓存的大小与 token 数"), words), words + say(
        book, " Both axes are logarithmic: a line of one slope is so many bytes for each token.",
        "两根轴都是对数刻度：斜率相同的直线，每个 token 的字节数都是定数。"))


# 06: what one waits for

@figure("06-timeline")
def timeline(book):
    rows = exhibit(book, "06", "timeline")
    most = max(r["total_seconds"] for r in rows)
    xticks = [t for t in steps(most, 4) if t <= most * 1.02]
    x, top = linear(0, max(most, xticks[-1]), 4, 390), 34
    d = Drawing("06-timeline", top + 62 * len(rows) + 46)
    legend(d, 14, [("swatch", "bar read", say(book, "reading the prompt", "读提示（预填充）")),
                   ("swatch", "bar write", say(book, "one stroke a token", "一格一个 token（解码）"))])
    bottom = top + 62 * len(rows)
    for t in xticks:
        d.line(x(t), top, x(t), bottom, "grid")
        d.text(x(t), bottom + 18, plain(t), "tick", "middle")
    d.text(WIDTH, bottom + 40, say(book, "seconds", "秒"), "name", "end")
    for i, r in enumerate(rows):
        y, first, n = top + 62 * i, r["first_token_seconds"], int(r["tokens_out"])
        d.text(0, y + 18, say(book, f"{r['tokens_in']:.0f} in, {n} out", f"读 {r['tokens_in']:.0f}，写 {n}"), "strong")
        d.text(WIDTH, y + 18, book.number(r["total_seconds"], "s"), "", "end")
        d.rect(x(0), y + 26, x(first) - x(0), 24, "bar read")
        d.add("path", d=f"M{x(first):.2f} {y + 38}H{x(r['total_seconds']):.2f}", class_="strokes write",
              pathLength=n, stroke_dasharray="0.62 0.38")
    said = say(book, "; ", "；").join(say(
        book, f"{r['tokens_in']:.0f} tokens in, {r['tokens_out']:.0f} out: first token after "
              f"{book.number(r['first_token_seconds'], 's')}, all after {book.number(r['total_seconds'], 's')}",
        f"读 {r['tokens_in']:.0f} 个、写 {r['tokens_out']:.0f} 个：首个 token 等 "
        f"{book.number(r['first_token_seconds'], 's')}，全部 {book.number(r['total_seconds'], 's')}") for r in rows)
    return framed("06-timeline", d.svg(say(book, "Three answers on a time line", "三次回答的时间线"), said), say(
        book, "Twice the output doubles the strokes. Twice the input widens only the short block at the start.",
        "输出加倍，格子加倍；输入加倍，变宽的只有开头那一小块。"),
        numbers(book, [say(book, "in", "读"), say(book, "out", "写"), say(book, "first token", "首个 token 的等待"),
                       say(book, "total", "全部")],
                [(f"{r['tokens_in']:.0f}", f"{r['tokens_out']:.0f}", book.number(r["first_token_seconds"], "s"),
                  book.number(r["total_seconds"], "s")) for r in rows]))


@figure("06-context")
def context(book):
    rows = sorted(exhibit(book, "06", "context"), key=lambda r: r["past"])
    points = [(r["past"], 1e3 * r["predicted_seconds"], 1e3 * r["measured_seconds"]) for r in rows]
    a, b = points[0], points[-1]
    words = say(book, f"The beat behind {a[0]:,.0f} tokens: predicted {a[1]:.3g} ms, measured {a[2]:.3g} ms; "
                      f"behind {b[0]:,.0f}: predicted {b[1]:.3g} ms, measured {b[2]:.3g} ms.",
                f"前面有 {a[0]:,.0f} 个 token 时，节拍预测 {a[1]:.3g} 毫秒，实测 {a[2]:.3g} 毫秒；"
                f"有 {b[0]:,.0f} 个时，预测 {b[1]:.3g} 毫秒，实测 {b[2]:.3g} 毫秒。")
    return two_curves(
        book, "06-context", points, say(book, "tokens before", "前面的 token 数"),
        say(book, "milliseconds for a token", "每个 token 的毫秒数"),
        say(book, "The beat against the context", "节拍与上下文长度"), words, words,
        numbers(book, [say(book, "tokens before", "前面的 token 数"), say(book, "predicted, ms", "预测，毫秒"),
                       say(book, "measured, ms", "实测，毫秒")],
                [(f"{p[0]:.0f}", f"{p[1]:.3g}", f"{p[2]:.3g}") for p in points]), css="write")


# 07: two ceilings

@figure("07-roofline")
def roofline(book):
    ceilings = chapter(book, "07")["machine"]["ceilings"]
    bandwidth, peak = ceilings["read_bandwidth"] / 1e9, ceilings["multiply_add_peak"] / 1e9
    points = [(int(r["tokens"]), r["flops"] / r["bytes"], r["flops"] / r["seconds"] / 1e9)
              for r in sorted(exhibit(book, "07", "roofline"), key=lambda r: r["tokens"])]
    ridge = peak / bandwidth
    low, high = min(points[0][1], ridge) / 2.5, max(points[-1][1], ridge) * 2.5
    floor = min(min(p[2] for p in points), bandwidth * low) * 0.7
    d = Drawing("07-roofline", 366)
    plot = Plot(d, log(low, high, 54, 392), log(floor, max(peak, *(p[2] for p in points)) * 2, 318, 26), 54, 26, 392, 318)
    plot.axes([t for t in decades(low, high) if low <= t <= high],
              [t for t in decades(floor, peak * 2) if floor <= t <= peak * 2],
              say(book, "FLOPs for each byte fetched", "每搬一个字节做多少 FLOP"), "GFLOP/s")
    start = max(low, floor / bandwidth)
    plot.curve([(start, bandwidth * start), (ridge, peak), (high, peak)], "roof")
    plot.curve([(ridge, peak), (ridge, floor)], "ridge")
    (x0, y0), (x1, y1) = (plot.x(start), plot.y(bandwidth * start)), (plot.x(ridge), plot.y(peak))
    mx, my = x0 + 0.56 * (x1 - x0) - 8, y0 + 0.56 * (y1 - y0) - 8
    d.text(mx, my, say(book, f"memory {bandwidth:.3g} GB/s", f"内存 {bandwidth:.3g} GB/s"), "", "middle",
           transform=f"rotate({degrees(atan2(y1 - y0, x1 - x0)):.1f} {mx:.1f} {my:.1f})")
    d.text(388, y1 - 9, say(book, f"arithmetic {peak:.3g} GFLOP/s", f"算力 {peak:.3g} GFLOP/s"), "", "end")
    d.text(x1 + 6, 310, say(book, f"ridge: {ridge:.3g}", f"屋脊：{ridge:.3g}"), "tick")
    taken = []
    for n, a, b in points:
        plot.mark("measured", a, b, "write" if n == 1 else "read")
    for n, a, b in [points[0], points[-1], *points[1:-1]]:
        words = say(book, "1 token: writing", "1 个 token：写") if n == 1 else f"{n}"
        x, y = plot.x(a) + 4, plot.y(b) + 19
        if not any(x < e + 3 and s < x + width(words) + 3 and abs(y - v) < 15 for s, e, v in taken):
            d.text(x, y, words, "strong write" if n == 1 else "")
            taken.append((x, x + width(words), y))
    (n0, a0, b0), (n1, a1, b1) = points[0], points[-1]
    words = say(book, f"The roof rises with memory's {bandwidth:.3g} GB/s to the ridge at {ridge:.3g} FLOPs a byte, then is "
                      f"flat at {peak:.3g} GFLOP/s. A pass over {n0} token: {a0:.2g} FLOPs a byte, {b0:.3g} GFLOP/s. "
                      f"Over {n1}: {a1:.3g} and {b1:.3g}.",
                f"屋顶先随内存的 {bandwidth:.3g} GB/s 上升，到每字节 {ridge:.3g} FLOP 的屋脊，之后平在 {peak:.3g} GFLOP/s。"
                f"{n0} 个 token 的前向计算：每字节 {a0:.2g} FLOP，{b0:.3g} GFLOP/s；{n1} 个：{a1:.3g} 和 {b1:.3g}。")
    return framed("07-roofline", d.svg(say(book, "The roofline of this machine, with measured passes",
                                           "这台机器的屋顶线和实测的前向计算"), words), say(
        book, "Dots are measured passes; the number is how many tokens went through at once. Left of the ridge a pass waits "
              "for memory, right of it for arithmetic. Both axes are logarithmic.",
        "圆点是实测的前向计算，数字是一次通过多少个 token。屋脊左边等内存，右边等算力。两根轴都是对数刻度。"),
        numbers(book, [say(book, "tokens", "token 数"), say(book, "FLOPs a byte", "FLOP/字节"), "GFLOP/s"],
                [(n, f"{a:.3g}", f"{b:.3g}") for n, a, b in points]))


@figure("07-pace")
def pace(book):
    groups, said = [], []
    words = {"one": say(book, "1 thread", "单线程"), "thread": ""}
    for way, head in (("read", say(book, "reading", "读")), ("write", say(book, "writing", "写"))):
        rows = []
        for r in chapter(book, "07")["rows"]:
            if r["id"].startswith(way + "_") and r["predicted"]:
                name = ", ".join(w for part in r["id"].split("_")[1:] if (w := words.get(part, part)))
                name = name.replace(", 1 thread", ", 1 thr.") if width(name) > 130 else name
                m = r["measured"]
                rows.append((name, book.number(m["median"]), (m["min"], m["max"]),
                             [("predicted", r["predicted"]), ("measured", m["median"])]))
                said.append(say(book, f"{head}, {name}: predicted {book.number(r['predicted'])}, measured {book.number(m['median'])}",
                                f"{head}，{name}：预测 {book.number(r['predicted'])}，实测 {book.number(m['median'])}"))
        groups.append((head, way, rows))
    if not any(rows for _, _, rows in groups):
        raise Missing("no rows 'read_...' and 'write_...' in the results of chapter 07")
    label = max(width(w) for _, _, rows in groups for w, *_ in rows) + 10
    return dot_rows(
        book, "07-pace", groups, "token/s",
        say(book, "Predicted and measured pace of models", "各种模型读写的预测与实测"), say(book, "; ", "；").join(said),
        say(book, "Tokens a second. Hollow diamond: predicted; dot and number: measured; bar: slowest to fastest run. "
                  "Half the bytes move the writing; they leave the reading where it was.",
            "每秒 token 数。空心菱形是预测，圆点和数字是实测，横线从最慢到最快的一次。"), label=min(label, 150))


# All predictions of the book

def ratios(results):
    """(chapter, row, time measured over time predicted) of all that the two ceilings predict."""
    for number, run in sorted(results.items()):
        for r in run["rows"]:
            if r["predicted"] and r["measured"] and r["unit"] in ("s", "token/s", "times"):
                ratio = r["measured"]["median"] / r["predicted"]
                yield number, r, 1 / ratio if r["unit"] == "token/s" else ratio


@figure("predicted")
def predicted(book):
    ours, yours = list(ratios(book.results)), list(ratios(book.yours))
    if not ours:
        raise Missing("no row with a prediction in any results")
    values = [v for _, _, v in ours + yours]
    low, high, ticks = between(min(0.5, *values), max(2, *values))
    x, top = log(low, high, 44, 386), 52 if yours else 44
    lanes, height = {}, top
    for number in sorted({n for n, _, _ in ours + yours}):
        levels, dots = [], []  # stack what would overlap
        for mine, source in ((False, ours), (True, yours)):
            for n, r, v in sorted(source, key=lambda p: p[2]):
                if n == number:
                    k = next((k for k, at in enumerate(levels) if all(abs(x(v) - a) >= 11 for a in at)), len(levels))
                    levels[k:k + 1] = [(levels[k] if k < len(levels) else []) + [x(v)]]
                    dots.append(((k + 1) // 2 * (-1) ** k, r, v, mine))  # 0, -1, 1, -2: about the middle
        lanes[number] = (height, max(24, 12 * len(levels) + 10), dots, 6 * (len(levels) % 2 == 0))
        height += lanes[number][1]
    d = Drawing("predicted", height + 46)
    d.rect(x(0.8), top, x(1.2) - x(0.8), height - top, "band")
    key = [("measured", "read", say(book, "a time or a rate", "时间或速度")), ("ratio", "other", say(book, "a ratio", "倍数"))]
    if yours:
        key.append(("yours", "write", say(book, "yours", "你的")))
    legend(d, 14, key)
    d.text(x(1), top - 8, "±20%", "tick", "middle")
    for t in ticks:
        d.line(x(t), top, x(t), height, "grid")
        d.text(x(t), height + 20, plain(t), "tick", "middle")
    d.line(x(1), top, x(1), height, "one")
    for number, (y, tall, dots, shift) in lanes.items():
        d.line(0, y, WIDTH, y, "lane")
        d.text(4, y + tall / 2 + 5, number, "strong")
        for k, r, v, mine in dots:
            shape, css = ("yours", "write") if mine else ("ratio", "other") if r["unit"] == "times" else ("measured", "read")
            d.mark(shape, x(v), y + tall / 2 + shift + 12 * k, css, r=4)
    d.line(0, height, WIDTH, height, "axis")
    d.text(0, height + 42, say(book, "← faster", "← 比预测快"), "name")
    d.text(WIDTH, height + 42, say(book, "slower than predicted →", "比预测慢 →"), "name", "end")
    near = sum(0.8 <= v <= 1.2 for _, _, v in ours)
    far = max(ours, key=lambda p: abs(log2(p[2])))
    words = say(book, f"{len(ours)} rows with a prediction; {near} within 20% of it. Farthest off: {far[1]['id']} "
                      f"of chapter {far[0]}, at {far[2]:.2g}.",
                f"有预测的共 {len(ours)} 行，其中 {near} 行相差不到 20%。差得最远的是第 {far[0]} 章的 "
                f"{far[1]['id']}：{far[2]:.2g}。")
    return framed("predicted", d.svg(say(book, "Measured over predicted, all chapters", "实测比预测，所有章节"), words), say(
        book, "Every prediction of the two ceilings, by chapter. Dots: time measured over time predicted. Triangles: rows "
              "that divide one by another. ", "两个上限给出的预测都在这里，按章排开。圆点：实测用时除以预测用时；三角：两行相除得到的倍数。")
        + words, numbers(book, [say(book, "chapter", "章"), say(book, "row", "行"), say(book, "predicted", "预测"),
                                say(book, "measured", "实测"), say(book, "time over predicted", "用时比预测")],
                         [(n, r["id"], book.number(r["predicted"], r["unit"]),
                           book.number(r["measured"]["median"], r["unit"]), f"{v:.2f}") for n, r, v in ours]))


# Where in GPT-2 we are

PARTS = {  # left, top, width, height; English, Chinese
    "tokenizer": (0, 30, 88, 30, "tokenizer", "分词器"),
    "embedding": (0, 82, 88, 30, "embedding", "嵌入"),
    "layers": (104, 22, 190, 98, "12 layers", "12 层"),
    "attention": (114, 32, 80, 30, "attention", "注意力"),
    "mlp": (114, 82, 80, 30, "MLP", "MLP"),
    "kv_cache": (214, 32, 72, 30, "KV cache", "KV 缓存"),
    "head": (314, 82, 72, 30, "head", "输出层"),
    "sampler": (314, 30, 72, 30, "sampler", "采样器"),
    "loop": (0, 0, 0, 0, "the next token goes round", "下一个 token 再走一圈")}


def map(book, lit):
    """GPT-2 from text to text, with the named parts (joined by +) filled."""
    parts = lit.split("+")
    for part in parts:
        if part not in PARTS:
            raise Missing(f"no part '{part}' in the map; there are {', '.join(PARTS)}")
    name = "map-" + "-".join(parts)
    d = Drawing(name, 150)
    words = {part: say(book, *PARTS[part][4:]) for part in PARTS}
    for part, (x, y, w, h, *_) in PARTS.items():
        on = " lit" if part in parts else ""
        if part == "layers":
            d.rect(x, y, w, h, "frame" + on, rx=8)
            d.text(242, 102, words[part], "strong" if on else "tick", "middle")
        elif part != "loop":
            d.rect(x, y, w, h, "part" + on, rx=6)
            d.text(x + w / 2, y + 20, words[part], "onlit" if on else "tick", "middle")
    for x, up in ((44, False), (350, True)):
        d.text(x, 12, say(book, "text", "文字"), "tick", "middle")
        d.arrow([(x, 30), (x, 16)] if up else [(x, 16), (x, 28)])
    for points in ([(44, 60), (44, 80)], [(88, 97), (102, 97)], [(154, 62), (154, 80)], [(194, 42), (212, 42)],
                   [(214, 53), (196, 53)], [(294, 97), (312, 97)], [(350, 82), (350, 62)]):
        d.arrow(points)
    on = "loop" in parts
    d.arrow([(386, 45), (397, 45), (397, 138), (44, 138), (44, 114)], "flow lit" if on else "flow")
    wide = width(words["loop"]) + 14
    d.rect(214 - wide / 2, 128, wide, 20, "plate")
    d.text(214, 143, words["loop"], "strong" if on else "tick", "middle")
    title = say(book, "Where in GPT-2 we are: ", "我们在 GPT-2 的这里：") + say(book, ", ", "、").join(words[p] for p in parts)
    return f'<figure class="figure map" id="fig-{name}">' + d.svg(title, say(
        book, "Text goes through the tokenizer and the embedding into 12 layers of attention and MLP, with the KV cache "
              "beside attention, then through the head to the sampler. Its token comes out as text and goes in again.",
        "文字经过分词器和嵌入，进入 12 层注意力和 MLP，KV 缓存在注意力旁边；再经过输出层到采样器。"
        "选出的 token 变成文字，同时再送回去。")) + "</figure>"


# The library

@figure("house")
def house(book):
    d = Drawing("house", 462)

    def floor(x, y, w, h, name, lines):
        d.rect(x, y, w, h, "part", rx=8)
        d.text(x + 12, y + 22, name, "code strong")
        for i, (css, words) in enumerate(lines):
            d.text(x + 12, y + 42 + 20 * i, words, css)
    names = [run["chapter"] for _, run in sorted(book.results.items())]
    floor(0, 0, 400, 72, "chapters/", [
        ("", say(book, f"{names[0]} to {names[-1]}: one experiment each,", f"{names[0]} 到 {names[-1]}：一章一个实验，")),
        ("", say(book, "each stands alone", "各自独立，互不包含"))])
    floor(50, 116, 300, 72, "lib/lab", [
        ("", say(book, "options, the two ceilings, repeats,", "选项、两个上限、重复测量、")),
        ("", say(book, "tables, results", "表格、结果文件"))])
    floor(0, 232, 246, 230, "lib/gpt2", [("", say(book, "text in, logits out", "文字进，logits 出"))])
    for i, (part, en, zh) in enumerate((
            ("tokenizer", "text and tokens", "文字与 token"), ("weights", "all parameters", "全部参数"),
            ("kv_cache", "what is kept", "留下来的键和值"), ("model", "one verb: forward", "只有一个动词"),
            ("cpu", "the fast engine", "跑得快的引擎"), ("reference", "the definition", "一切以它为准"))):
        d.text(12, 304 + 25 * i, part, "code strong")
        d.text(100, 304 + 25 * i, say(book, en, zh))
    floor(280, 232, 120, 230, "lib/ledger", [("", w) for w in say(
        book, ("bytes,", "FLOPs,", "seconds:", "arithmetic", "only,", "measures", "nothing"),
        ("字节、", "FLOP、", "秒：", "只管算账，", "什么也不量"))])
    d.arrow([(200, 72), (200, 114)])
    for x, top in ((25, 72), (375, 72), (150, 188), (315, 188)):
        d.arrow([(x, top), (x, 230)])
    d.arrow([(280, 440), (248, 440)])
    d.text(WIDTH - 12, 445, "Config", "code tick", "end")
    title = say(book, "The house: chapters, lib/lab, lib/gpt2 and lib/ledger", "这座房子：chapters、lib/lab、lib/gpt2、lib/ledger")
    words = say(book, "An arrow means: includes. Chapters include all three libraries; lib/lab includes lib/gpt2 and lib/ledger; "
                      "lib/ledger takes only the shape of a model, its Config, from lib/gpt2.",
                "箭头的意思是“包含”。各章包含三个库；lib/lab 包含 lib/gpt2 和 lib/ledger；"
                "lib/ledger 只从 lib/gpt2 拿模型的形状（Config）。")
    return framed("house", d.svg(title, words), words)
