#!/usr/bin/env python3
"""Checks the book as it was built, without a browser: check_site.py [FOLDER]

Links, anchors and assets; HTML; every chapter complete; both languages alike. Prints what is
wrong, a line each, and ends with status 1; 0 if nothing is.
"""

import pathlib
import re
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 300_000  # bytes of a page with all that it loads
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source"}
SECTIONS = ["guess", "measured", "try", "world", "wrong", "reveal", "ties", "sentence",
            "homework"]
WORDS = {"en": (800, 1500), "zh": (1300, 2900)}  # words; characters

# What must not be left over of Markdown, of commands and of names.
LEFTOVER = [r"\*\*", r"(?<!\w)\*\w", r"\\f[\$\[]", r"\\[(\[]", r"[@\\](ref|snippet)\b",
            r"\\(figure|map|results|published|keep|calculator|excerpt|guess|reveal|hint)\b",
            r"\|:?--", r"\]\(", r"```", r"@[A-Za-z_]{3,}@", r"\{\{", r"\}\}", r"\{#",
            r"(?m)^\s*\|.*\|\s*$", r"</?(div|details|b|em|tt|code)>"]


class Page(HTMLParser):
    """What a page holds, as far as the checks ask."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads, self.faults = [], [], [], []
        self.lang, self.headings, self.stack = "", [], []
        self.quiz, self.reveals = {}, {}  # id to [answer, choices]; id to explanations
        self.figures, self.tables, self.code, self.formulas = [], [], [], []
        self.calculators, self.keeps, self.maps, self.homework = [], [], [], 0
        self.results, self.excerpts = 0, 0
        self.text, self.paragraphs = [], []
        self.feed(path.read_text(encoding="utf-8"))
        self.faults += [f"<{tag}> is never closed" for tag, _, _ in self.stack]

    def inside(self, name):
        return any(name == tag or name in classes for tag, classes, _ in self.stack)

    def foreign(self):
        """In a part that says it is in another language than the page."""
        langs = [lang for _, _, lang in self.stack if lang]
        return bool(langs) and langs[-1] != self.lang

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        classes = (a.get("class") or "").split()
        if "id" in a:
            self.ids.append(a["id"])
        if tag == "html":
            self.lang = a.get("lang", "")
        if tag == "a" and a.get("href"):
            self.links.append(a["href"])
        self.loads += [a[name] for name in ("src", "data", "poster") if a.get(name)]
        if tag == "link" and a.get("href") and a.get("rel") != "alternate":
            self.loads.append(a["href"])
        if tag == "img" and "alt" not in a:
            self.faults.append("an image without alt")
        if tag == "svg" and a.get("role") != "img" and a.get("aria-hidden") != "true":
            self.faults.append("a drawing that a screen reader cannot name")
        if "guess" in classes:
            self.quiz[a["data-quiz"]] = [a["data-answer"], 0]
        if "reveal" in classes:
            self.reveals[a["data-quiz"]] = 0
        if tag == "li" and self.inside("guess"):
            self.quiz[list(self.quiz)[-1]][1] += 1
        if tag == "li" and self.inside("reveal"):
            self.reveals[list(self.reveals)[-1]] += 1
        if tag == "figure":
            (self.maps if "map" in classes else self.figures).append(a.get("id"))
        if tag == "form" and "calculator" in classes:
            self.calculators.append(a["data-calculator"])
        self.homework += "homework" in classes
        self.results += tag == "table" and "results" in classes
        self.excerpts += "where" in classes
        if "keep" in classes:
            self.keeps.append("")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if "fragment" in classes:
            self.code.append("")
        if tag == "table":
            self.tables.append(0)
        if tag in ("td", "th") and self.tables:
            self.tables[-1] += 1
        if tag == "p":
            self.paragraphs.append("")
        if tag not in VOID:
            self.stack.append((tag, classes, a.get("lang")))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if self.stack and self.stack[-1][0] == tag:
            self.stack.pop()
            return
        within = self.stack[-1][0] if self.stack else "nothing"
        self.faults.append(f"line {self.getpos()[0]}: </{tag}> within {within}")
        tags = [open for open, _, _ in self.stack]
        if tag in tags:
            del self.stack[len(tags) - 1 - tags[::-1].index(tag):]

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.stack.pop()

    def handle_data(self, data):
        if self.inside("annotation"):
            self.formulas.append(data.strip())
        if any(self.inside(name) for name in ("script", "style", "math")):
            return
        if self.inside("fragment"):
            self.code[-1] += data
        elif not self.inside("code") and not self.inside("nav"):
            if self.inside("keep"):
                self.keeps[-1] += data
            if not self.foreign():
                self.text.append(data)
                if self.inside("p") and not self.inside("figure"):
                    self.paragraphs[-1] += data

    def words(self):
        """Words of prose, or characters in Chinese; figures and tables have no paragraphs."""
        text = " ".join(self.paragraphs)
        if self.lang == "en":
            return len(re.findall(r"[A-Za-z0-9][\w’',.%-]*", text))
        return len(re.findall("[\u4e00-\u9fff]", text))


def check_page(root, sites, lang, name, say):
    page, folder = sites[lang][name], root / lang
    for fault in page.faults:
        say(fault)
    for id in sorted({id for id in page.ids if page.ids.count(id) > 1}):
        say(f"id used twice: {id}")
    if page.lang != {"en": "en", "zh": "zh-CN"}[lang]:
        say(f"lang is {page.lang!r}")
    if page.headings.count(1) != 1:
        say(f"expected one h1, found {page.headings.count(1)}")
    for before, after in zip(page.headings, page.headings[1:]):
        if after > before + 1 and re.match(r"ch\d\d_", name):
            say(f"an h{after} follows an h{before}")

    weight = (folder / name).stat().st_size
    for address in page.loads + page.links:
        parts = urlsplit(address)
        if parts.scheme in ("http", "https") or parts.netloc:
            if address in page.loads:
                say(f"loads from the network: {address}")
            continue
        if parts.scheme:
            if parts.scheme != "data":
                say(f"odd link: {address}")
            continue
        target = (folder / unquote(parts.path)).resolve() if parts.path else folder / name
        if not target.is_file():
            say(f"no such file: {address}")
            continue
        if address in page.loads:
            weight += target.stat().st_size
        if parts.fragment and target.suffix == ".html":
            other = sites.get(target.parent.name, {}).get(target.name) or Page(target)
            if unquote(parts.fragment) not in other.ids:
                say(f"no such anchor: {address}")
    if weight >= LIMIT and not name.endswith("_source.html"):
        say(f"{weight} bytes with what it loads; expected less than {LIMIT}")

    if (ROOT / "book" / lang / source_of(name)).is_file():
        text = "".join(page.text)
        for pattern in LEFTOVER:
            found = re.search(pattern, text)
            if found:
                some = text[max(0, found.start() - 20):found.end() + 20]
                say(f"left of Markdown, or of a command: {some!r}")
    for quiz, (answer, choices) in page.quiz.items():
        if choices != 4 or answer not in ("A", "B", "C", "D"):
            say(f"guess {quiz}: expected 4 choices and one of them, found {choices} and {answer}")
        if page.reveals.get(quiz) != choices:
            say(f"guess {quiz}: expected a reveal that explains {choices} choices, "
                f"found {page.reveals.get(quiz)}")


def check_chapter(page, lang, name, say):
    """A chapter page has all that a chapter page has, in its order."""
    prefix = name[:4] + "-"
    sections = [id[len(prefix):] for id in page.ids if id.startswith(prefix)]
    present = [id for id in sections if id in SECTIONS]
    if present != SECTIONS:
        say(f"expected the sections {', '.join(SECTIONS)}, found {', '.join(present)}")
    for what, have in (("guess", page.quiz), ("map", page.maps), ("excerpt", page.excerpts),
                       ("figure", page.figures), ("results table", page.results),
                       ("sentence to keep", page.keeps), ("homework", page.homework)):
        if not have:
            say(f"a chapter without a {what}")
    least, most = WORDS[lang]
    if not least <= page.words() <= most:
        say(f"expected {least} to {most} words, found {page.words()}")


def source_of(name):
    return re.sub(r"^ch(?=\d\d_)", "", name).replace(".html", ".md")


def check_translated(page, say):
    for text in page.paragraphs:
        if len(re.findall("[A-Za-z]{2,}", text)) > 12 and not re.search("[\u4e00-\u9fff]", text):
            say(f"not translated: {text.strip()[:60]!r}")


def check_alike(name, en, zh, say):
    """The same guesses, code, figures, tables and formulas in both languages."""
    def own(ids):
        return [id for id in ids if not re.match(r"(md_|l\d)", id)]

    parts = {"ids": (own(en.ids), own(zh.ids)),
             # a formula may move within a sentence, and a shell comment is prose
             "formulas": (sorted(en.formulas), sorted(zh.formulas)),
             "code": tuple([re.sub(r"(?m) +# .*$", "", code) for code in page.code]
                           for page in (en, zh))}
    for part in ("quiz", "reveals", "figures", "homework", "headings", "tables",
                 "calculators", "maps"):
        parts[part] = (getattr(en, part), getattr(zh, part))
    for part, (a, b) in parts.items():
        if a != b:
            only = sorted(set(map(str, a)) ^ set(map(str, b)))[:4] if isinstance(a, list) else ""
            say(f"{part} differ between the languages: {only or (a, b)}")
    if any(id.startswith("autotoc") for id in en.ids + zh.ids):
        say("a heading without {#id}")


def load(root):
    return {lang: {path.name: Page(path) for path in sorted((root / lang).glob("*.html"))}
            for lang in ("en", "zh")}


def faults_of(root, sites):
    """A line for everything that is wrong."""
    faults = []
    chapters = sorted(main.parent.name for main in ROOT.glob("chapters/*/main.cpp"))
    for lang, site in sites.items():
        for name, page in site.items():
            def say(what):
                faults.append(f"{lang}/{name}: {what}")
            check_page(root, sites, lang, name, say)
            if re.match(r"ch\d\d_", name):
                check_chapter(page, lang, name, say)
            if lang == "zh" and (ROOT / "book/zh" / source_of(name)).is_file():
                check_translated(page, say)
        for chapter in chapters:
            if f"ch{chapter}.html" not in site:
                faults.append(f"{lang}: no page of chapter {chapter}")
    for name in sorted(set(sites["en"]) ^ set(sites["zh"])):
        faults.append(f"{name}: in one language only")
    for name in sorted(set(sites["en"]) & set(sites["zh"])):
        check_alike(name, sites["en"][name], sites["zh"][name],
                    lambda what: faults.append(f"{name}: {what}"))
    return faults


def main(root):
    sites = load(root)
    faults = faults_of(root, sites)
    print("\n".join(faults) or f"{sum(map(len, sites.values()))} pages, no fault found")
    return bool(faults) or not all(sites.values())


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/book")
                  .resolve()))
