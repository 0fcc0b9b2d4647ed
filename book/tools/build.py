#!/usr/bin/env python3
"""Builds the book, both languages, into build/book. `scripts/site` is what a person types.

Pages go through pages.py, which puts in numbers, figures and tables by name; Doxygen makes
HTML of them and of the library's headers, once per language; a finishing pass adds what
Doxygen has no word for: contents, the way to the other language, search, formulas as
MathML.
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pages
from quantities import Missing, Numbers
from words import WORDS

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "build/book"
KATEX = os.environ.get("KATEX", "/usr/share/javascript/katex/katex.min.js")

FRONT = ["index", "start"]
BACK = ["library", "glossary", "dependencies", "teachers", "errata"]


class Page:
    """A page of the book, in one language: its file, what it is called, its number."""

    def __init__(self, lang, name):
        self.source = ROOT / "book" / lang / f"{name}.md"
        first = self.source.read_text(encoding="utf-8").partition("\n")[0]
        title = re.fullmatch(r"# (.+) \{#(\w+)\}", first)
        if not title:
            raise Missing(f"book/{lang}/{name}.md:1: expected '# Title {{#id}}', found '{first}'")
        self.title, id = title.groups()
        self.chapter = name[:2] if name[:2].isdigit() else ""
        self.url = "index.html" if name == "index" else f"{id}.html"

    def label(self):
        """As the contents name it."""
        title = html.escape(self.title)
        return f'<b class="number">{self.chapter}</b> {title}' if self.chapter else title


def reading_order(lang):
    chapters = sorted(file.stem for file in (ROOT / "book" / lang).glob("[0-9][0-9]_*.md"))
    return [Page(lang, name) for name in FRONT + chapters + BACK]


# Doxygen
# -------


def convert_pages(lang):
    numbers = Numbers(ROOT, lang)
    folder = OUT / "pages" / lang
    folder.mkdir(parents=True)
    for file in sorted((ROOT / "book" / lang).glob("*.md")):
        text = pages.convert(file.read_text(encoding="utf-8"), numbers, file.relative_to(ROOT))
        (folder / file.name).write_text(text, encoding="utf-8")


def run_doxygen(lang):
    words = WORDS[lang]
    header = (ROOT / "book/theme/header.html").read_text(encoding="utf-8")
    for name, word in words.items():
        header = header.replace(f"@{name}@", word)
    (OUT / f"header.{lang}.html").write_text(header, encoding="utf-8")
    done = subprocess.run(
        ["doxygen", "book/Doxyfile"], cwd=ROOT, capture_output=True, text=True,
        env=dict(os.environ, LC_ALL="C.UTF-8", BOOK_LANG=lang, BOOK_TITLE=words["title"],
                 BOOK_LANGUAGE=words["doxygen"]))
    log = OUT / f"warnings.{lang}.txt"
    warnings = log.read_text(encoding="utf-8").strip() if log.exists() else ""
    if done.returncode or warnings:
        sys.exit(f"doxygen, {lang}:\n{warnings or done.stderr.strip()}")


# Formulas
# --------

FORMULA = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]", re.S)


def mathml(formulas):
    """[(TeX, displayed)] to MathML, which browsers draw without a script or a font of ours."""
    if not pathlib.Path(KATEX).is_file():
        sys.exit(f"book: expected KaTeX at {KATEX}; the package is libjs-katex, or set KATEX to "
                 "its katex.min.js")
    script = f"""
const katex = require({json.dumps(KATEX)}), made = [];
for (const [tex, displayMode] of JSON.parse(require('fs').readFileSync(0, 'utf8'))) {{
  try {{
    made.push(katex.renderToString(tex, {{displayMode, output: 'mathml', strict: 'error'}}));
  }} catch (fault) {{
    console.error('in the formula ' + tex + ': ' + fault.message);
    process.exit(1);
  }}
}}
process.stdout.write(JSON.stringify(made));"""
    done = subprocess.run(["node", "-e", script], input=json.dumps(formulas),
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip()[-600:])
    return json.loads(done.stdout)


# The finishing pass
# ------------------


def contents(words, order, here):
    """The list of all pages, at the side."""
    def item(url, label):
        current = ' aria-current="page"' if url == here else ""
        return f'<li><a href="{url}"{current}>{label}</a></li>'

    def group(title, items):
        return f'<p class="navhead">{title}</p><ul>{"".join(items)}</ul>'

    front = [item(page.url, page.label()) for page in order[:len(FRONT)]]
    chapters = [item(page.url, page.label()) for page in order if page.chapter]
    back = [item(page.url, page.label()) for page in order[-len(BACK):]]
    reference = [item(url, words[word]) for url, word in (
        ("annotated.html", "types"), ("namespaces.html", "namespaces"), ("files.html", "files"))]
    return (f'<nav id="sidebar" aria-label="{words["menu"]}"><ul>{"".join(front)}</ul>' +
            group(words["chapters"], chapters) + group(words["book"], back) +
            group(words["reference"], reference) + "</nav>")


def around(words, order, here):
    """Links to the pages before and after."""
    at = next((k for k, page in enumerate(order) if page.url == here), None)
    if at is None:
        return ""
    links = ""
    if at > 0:
        links += (f'<a class="prev" rel="prev" href="{order[at - 1].url}">'
                  f'<small>{words["previous"]}</small>{order[at - 1].label()}</a>')
    if at + 1 < len(order):
        links += (f'<a class="next" rel="next" href="{order[at + 1].url}">'
                  f'<small>{words["next"]}</small>{order[at + 1].label()}</a>')
    return f'<nav class="around" aria-label="{words["around"]}">{links}</nav>'


def on_page(words, body):
    heads = re.findall(r'<h2[^>]*><a class="anchor" id="([^"]+)"></a>\s*(.*?)</h2>', body, re.S)
    if len(heads) < 3:
        return ""
    items = "".join(f'<li><a href="#{id}">{text.strip()}</a></li>' for id, text in heads)
    return (f'<nav id="pagetoc" aria-label="{words["on_page"]}">'
            f'<p class="navhead">{words["on_page"]}</p><ul>{items}</ul></nav>')


def dedent(block):
    """A quoted region without the indentation that all its lines share."""
    line = r'(<div class="line">(?:<a id="l\d+" name="l\d+"></a>)?(?:<span class="lineno">[^<]*</span>)?)'
    found = re.findall(line + r"( *)([^\n]*?)</div>", block)
    shared = min((len(pad) for _, pad, rest in found if rest.strip()), default=0)
    return re.sub(line + " " * shared, r"\1", block) if shared else block


def finish_page(name, text, words, order):
    """What Doxygen wrote, as a page of the book; formulas are still TeX."""
    page = next((page for page in order if page.url == name), None)
    text = re.sub(r'<div class="title">(.*?)</div>', r'<h1 class="title">\1</h1>', text,
                  count=1, flags=re.S)
    split = text.find('<div class="contents">')
    head, body = text[:split], text[split:]

    # One h1 a page: the title. What Doxygen calls h1 is a section.
    body = re.sub(r"<h([1-5])( [^>]*)?>(.*?)</h\1>",
                  lambda m: f"<h{int(m[1]) + 1}{m[2] or ''}>{m[3]}</h{int(m[1]) + 1}>", body,
                  flags=re.S)
    if not name.endswith("_source.html"):
        body = re.sub(r'<div class="fragment">.*?</div><!-- fragment -->',
                      lambda m: dedent(m[0]), body, flags=re.S)
    body = re.sub(r'<p class="formulaDsp">(.*?)</p>', r'<div class="formulaDsp">\1</div>', body,
                  flags=re.S)
    body = re.sub(r'(<table class="markdownTable">.*?</table>)',
                  r'<div class="scroll" tabindex="0">\1</div>', body, flags=re.S)
    body = body.replace('<div class="memproto">', '<div class="memproto" tabindex="0">')
    body = body.replace('<div class="fragment">', '<div class="fragment" tabindex="0">')
    body = body.replace("<p >", "<p>")

    # Folders have no pages here, and nothing on a page runs Doxygen's scripts.
    head, body = (re.sub(r'<a [^>]*href="dir_[^"]*"[^>]*>(.*?)</a>', r"\1", part)
                  for part in (head, body))
    head = re.sub(r'<div id="nav-path" class="navpath">.*?</div>', "", head, flags=re.S)
    head = re.sub(r'<div class="summary">.*?</div>', "", head, flags=re.S)
    body = re.sub(r'<img src="closed.png"[^>]*>(&#160;)?', "", body)
    body = re.sub(r'<div class="levels">.*?</div>', "", body, flags=re.S)
    body = re.sub(r'<p class="definition">.*?</p>', "", body, flags=re.S)
    body = re.sub(r' onclick="[^"]*"', "", body)
    body = re.sub(r'<a href="[^"]*"><span class="icondoc"></span></a>', "", body)
    if words["doxygen"] == "Chinese":  # blanks around a formula
        body = re.sub(r"(?<=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]) (?=\\\()", "", body)
        body = re.sub(r"(?<=\\\)) (?=[\u4e00-\u9fff])", "", body)  # the style sheet spaces both
        if page is None:  # the reference is in English in both
            body = body.replace('<div class="contents">', '<div class="contents" lang="en">', 1)

    head = head.replace("</div><!-- top -->", '</div><!-- top -->\n<div class="shell">\n' +
                        contents(words, order, name) + '\n<main id="content">', 1)
    if page and page.chapter:
        head = head.replace('<h1 class="title">', '<h1 class="title"><small>' +
                            words["chapter"].format(page.chapter) + "</small>", 1)
    text = (head + body).replace("@PAGE@", name)
    text = text.replace("@AROUND@", around(words, order, name))
    return text.replace("@ON_PAGE@", on_page(words, body) if page else "")


def finish(lang):
    words, site, order = WORDS[lang], OUT / lang, reading_order(lang)
    unused = ["jquery.js", "dynsections.js", "tabs.css", "menu.js", "menudata.js", "doxygen.svg",
              "pages.html", "classes.html", "hierarchy.html", "*-members.html", "functions*.html", "namespacemembers*.html", "graph_legend.*",
              "dir_*", "*.png", "nav_*", "tab_*"]
    for pattern in unused:
        for file in site.glob(pattern):
            file.unlink()
    done = {file: finish_page(file.name, file.read_text(encoding="utf-8"), words, order)
            for file in sorted(site.glob("*.html"))}

    formulas = sorted({(html.unescape(m[1] or m[2]), bool(m[2]))
                       for text in done.values() for m in FORMULA.finditer(text)})
    made = dict(zip(formulas, mathml(formulas)))
    index = search_index(done)
    for file, text in done.items():
        text = FORMULA.sub(lambda m: made[(html.unescape(m[1] or m[2]), bool(m[2]))], text)
        file.write_text(text, encoding="utf-8")
    (site / "search-data.js").write_text(
        "window.BOOK_INDEX=" + json.dumps(index, ensure_ascii=False, separators=(",", ":")) +
        ";\n", encoding="utf-8")


# Search
# ------


def plain(text):
    """The words of a piece of HTML."""
    text = FORMULA.sub(" ", text)
    text = re.sub(r"<(script|style)\b.*?</\1>|<svg.*?</svg>", " ", text, flags=re.S)
    text = re.sub(r"</(p|li|td|th|div|h\d|figcaption)>", " ", text)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", text))).strip()


def search_index(done):
    """One entry a section: address, title, title of the page, text."""
    entries = []
    for file, text in done.items():
        title = re.search(r'<h1 class="title">(?:<small>.*?</small>)?(.*?)</h1>', text, re.S)
        if file.name.endswith("_source.html") or not title:
            continue
        title = plain(title[1])
        body = text[text.find('<div class="contents"'):].split('<nav class="around"')[0]
        parts = re.split(r'<h[23][^>]*><a class="anchor" id="([^"]+)"></a>\s*(.*?)</h[23]>',
                         body.split("</main>")[0], flags=re.S)
        entries.append([file.name, title, "", plain(parts[0])])
        for k in range(1, len(parts), 3):
            entries.append([f"{file.name}#{parts[k]}", plain(parts[k + 1]), title,
                            plain(parts[k + 2])])
    return entries


def build(lang):
    convert_pages(lang)
    run_doxygen(lang)
    finish(lang)


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    try:
        with ThreadPoolExecutor() as both:
            list(both.map(build, WORDS))
        shutil.copy(ROOT / "book/theme/language.html", OUT / "index.html")
    except Missing as missing:
        sys.exit(f"book: {missing}")
    finally:
        if not (OUT / "index.html").exists():  # half a book is worse than none
            shutil.rmtree(OUT)


if __name__ == "__main__":
    main()
