"""Turns a page of the book into what Doxygen reads: puts in numbers, figures and tables by
name, and makes Chinese Markdown survive Doxygen 1.9.4:

1. **bold** and *emphasis* that touch a Chinese character become <b> and <em>: Doxygen sees
   emphasis at the edge of an ASCII word only.
2. A line break within a Chinese sentence is removed, lest a blank appear there.

A page keeps its number of lines, so that warnings point to the right one.
"""

import functools
import re
from html import escape

import figures
import tables
from quantities import Missing
from words import WORDS

CJK = "\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef\u2014\u2018\u2019\u201c\u201d\u2026"
BOLD = re.compile(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*")
EM = re.compile(r"(?<![*A-Za-z0-9_])\*(?=[^\s*])([^*\n]+?)(?<=\S)\*(?!\*)")
KEPT = re.compile(r"(`+[^`]*`+|\\f\$.*?\\f\$|\]\([^)]*\))")  # code, formulas, addresses

# A line that ends, and one that begins, within a Chinese sentence.
ENDS_CHINESE = re.compile(rf"[{CJK}](\]\([^)]*\)|</b>|</em>)?$")
BEGINS_CHINESE = re.compile(rf"\s*(\[|<b>|<em>)?[{CJK}]")
NUMBER = re.compile(r"\{\{(.+?)\}\}")
COMMAND = re.compile(r"\\(figure|map|results|published|keep|calculator|excerpt|guess|endguess"
                     r"|reveal|endreveal|hint|endhint|homework|endhomework)(?:\{(.*)\})?\s*")


def prose(text):
    """The text, emphasis next to Chinese characters spelled out as HTML. A per cent sign is
    a command to Doxygen, which would swallow it."""
    def swap(tag, m):
        s, i, j = m.string, m.start(), m.end()
        near = s[i - 1:i] + s[j:j + 1] + m.group(1)[0] + m.group(1)[-1]
        return f"<{tag}>{m.group(1)}</{tag}>" if re.search(f"[{CJK}]", near) else m.group(0)

    parts = KEPT.split(text)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"(?<!\\)%", r"\\%", parts[k])
        parts[k] = BOLD.sub(functools.partial(swap, "b"), parts[k])
        parts[k] = EM.sub(functools.partial(swap, "em"), parts[k])
    return "".join(parts)


def raw(html):
    """HTML that Doxygen passes on as it is, on one line."""
    return "\\htmlonly[block]" + re.sub(r"\s*\n\s*", " ", html.strip()) + "\\endhtmlonly"


def excerpt(numbers, path, name):
    """A quoted region, between two lines `// [name]`, under the file and line it is from."""
    file = numbers.root / path
    if not file.is_file():
        raise Missing(f"no such file: {path}")
    lines = file.read_text(encoding="utf-8").splitlines()
    marks = [at for at, line in enumerate(lines, 1) if line.strip() == f"// [{name}]"]
    if len(marks) != 2:
        raise Missing(f"{path}: expected two lines '// [{name}]', found {len(marks)}")
    return f"\\excerpt{{{path},{name},{marks[0] + 1}}}"


def graded(numbers, chapter):
    """What `scripts/grade` asks for in this chapter, from the table of its README."""
    readme = numbers.root / "chapters" / chapter / "homework/README.md"
    if not readme.is_file():
        return ""
    words = WORDS[numbers.lang]
    tasks = [f"<code>{name}</code> ({points})" for name, points in
             re.findall(r"^\| `(\w+)` \| (\d+) \|", readme.read_text(encoding="utf-8"), re.M)]
    return (f'<p class="graded">{words["graded"].format(tasks=words["comma"].join(tasks))} '
            f'<code>scripts/grade {chapter[:2]}</code></p>')


def expand(numbers, command, argument, chapter):
    """What a command that stands alone on its line turns into, on the page of `chapter`."""
    words = WORDS[numbers.lang]
    first, _, rest = (part.strip() for part in (argument or "").partition(","))
    if command == "figure":
        return raw(figures.make(numbers, first))
    if command == "map":
        return raw(figures.map(numbers, first))
    if command == "results":
        return raw(tables.results_table(numbers, first, rest.split(",") if rest else ()))
    if command == "published":
        return raw(tables.published_table(numbers))
    if command == "keep":
        if first not in numbers.results:
            raise Missing(f"no results file of chapter {first}")
        return raw(f'<p class="keep">{escape(rest or numbers.results[first]["keep"])}</p>')
    if command == "calculator":
        file = numbers.root / "book/calculators" / f"{first}.html"
        if not file.is_file():
            raise Missing(f"no calculator '{first}'")
        html = file.read_text(encoding="utf-8")
        other = words["other"]
        return raw(re.sub(rf'<span class="{other}".*?</span>', "", html, flags=re.S))
    if command == "excerpt":
        return excerpt(numbers, first, rest)
    if command == "guess":
        return raw(f'<section class="guess" id="guess-{first}" data-quiz="{first}" '
                   f'data-answer="{rest}" aria-label="{words["guess"]}">')
    if command == "reveal":
        return raw(f'<details class="reveal" data-quiz="{first}"><summary>{words["reveal"]}'
                   '</summary>')
    if command == "hint":
        return raw(f'<details class="hint"><summary>{words["hint"]}</summary>')
    if command == "homework":
        return raw('<section class="homework">')
    if command == "endhomework":
        return raw(graded(numbers, chapter) + "</section>")
    return raw("</details>" if command in ("endreveal", "endhint") else "</section>")


OPEN = {"```": r"\s*```", "~~~": r"\s*~~~", "\\f[": r".*\\f\]"}
START = re.compile(r"\s*(```|~~~|\\f\[)")


def convert(text, numbers, page):
    """The page's text for Doxygen. `page` is named in messages.

    Raises Missing, with the line, for a name that nothing answers to.
    """
    out, close, owed = [], None, 0
    for at, line in enumerate(text.split("\n"), 1):
        if close:  # inside code or a formula
            out.append(line)
            if re.match(close, line):
                close = None
            continue
        start = START.match(line)
        if start:
            out.append(line)
            close = OPEN[start.group(1)]
            if start.group(1) == "\\f[" and re.match(close, line):  # on one line
                close = None
            continue
        try:
            command = COMMAND.fullmatch(line)
            if command:
                if out and out[-1].strip():  # it would belong to the list or table above
                    raise Missing("expected a blank line before it")
                line = expand(numbers, *command.groups(), page.stem)
            else:
                filled = NUMBER.sub(lambda m: numbers.evaluate(m.group(1)), line)
                if line.lstrip().startswith("{{"):  # "19. That" would begin a list
                    filled = re.sub(r"^(\s*\d+)\.(\s|$)", r"\1\\.\2", filled)
                line = filled
        except Missing as missing:
            raise Missing(f"{page}:{at}: {missing}") from None
        if not command:
            line = prose(line)
        before = out[-1] if out else ""
        if (ENDS_CHINESE.search(before) and BEGINS_CHINESE.match(line)
                and not before.startswith("#")):
            out[-1] = before + line.lstrip()
            owed += 1
            continue
        if not line.strip() and owed:  # give the lines back at the end of the paragraph
            out.extend([""] * owed)
            owed = 0
        out.append(line)
    return "\n".join(out + [""] * owed)
