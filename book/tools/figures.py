"""The book's figures: one function each, from results files to HTML, in two languages.

make(book, name) gives one figure. Its words stand above its function, English beside
Chinese. Every number in it, and in what a screen reader says of it, comes from the
results; what is missing there raises Missing. A function returns what it drew, the values
that its words have places for, and a table if there is one to unfold below.
"""

import re
from html import escape
from importlib import import_module
from math import floor, log2, log10
from pathlib import Path

from quantities import Missing
from svg import WIDTH, Drawing, Plot, linear, log_axis, short, steps, width

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


# Each chapter has its figures in a file of its own.
for file in sorted(Path(__file__).parent.glob("figures_*.py")):
    import_module(file.stem)
