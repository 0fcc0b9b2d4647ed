"""Chapter 01: text becomes tokens."""

import re
from collections import Counter
from html import escape

from figures import chips, exhibit, figure, rows_like, spelled
from svg import Drawing, linear


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
