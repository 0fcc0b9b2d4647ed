#!/usr/bin/env python3
"""Plants faults in the book, one at a time, and asks whether the checks find each: faults.py

In pages, which the build must refuse with the page and the line; and in a copy of the built
site, which check_site.py must refuse. Status 0; 1 with a line for every fault that got by.
"""

import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "book/tools"), str(ROOT / "tests/book")]

import check_site
import pages
from quantities import Missing, Numbers

CHAPTER = "ch04_read_vs_write.html"

# What a page says, and what the refusal must say.
IN_PAGES = {
    "Takes {{04.read_over_wrote}}.": "no 'read_over_wrote'",
    "Takes {{42.read_over_write}}.": "42",
    "Takes {{04.read_512.guessed}}.": "guessed",
    "Takes {{04.read_512 / 0}}.": "division",
    "Takes {{__import__('os')}}.": "no such name",
    "Takes {{course.beat}}.": "no number",
    r"\figure{04-pie}": "04-pie",
    r"\results{42}": "42",
    r"\results{04,read_513}": "read_513",
    r"\excerpt{chapters/04_read_vs_write/main.cpp,scribble}": "scribble",
    r"\excerpt{chapters/04_read_vs_write/mine.cpp,read}": "mine.cpp",
    r"\map{attention+heart}": "heart",
    r"\calculator{abacus}": "abacus",
    r"\keep{42}": "42",
    "- a list\n" + r"\endguess": "blank line",
}


def pages_refused(expect):
    numbers = {lang: Numbers(ROOT, lang) for lang in ("en", "zh")}
    for text, said in IN_PAGES.items():
        for lang in numbers:
            try:
                pages.convert(f"# Page {{#page}}\n\n{text}\n", numbers[lang],
                              pathlib.Path("page.md"))
                refusal = "nothing"
            except Missing as missing:
                refusal = str(missing)
            expect(refusal.startswith("page.md:") and said in refusal,
                   f"{text!r} is refused with its line and '{said}', found: {refusal}")
    del numbers["zh"].translations["04"]["reading"]
    try:
        pages.convert("\n\\results{04}\n", numbers["zh"], pathlib.Path("page.md"))
        refusal = "nothing"
    except Missing as missing:
        refusal = str(missing)
    expect("no 'reading'" in refusal, f"a row without Chinese words is refused: {refusal}")


def swap(pattern, by, count=1):
    """A fault: the first match of `pattern` in a page becomes `by`."""
    def plant(text):
        text, done = re.subn(pattern, by, text, count=count, flags=re.S)
        if not done:
            raise AssertionError(f"nothing to replace: {pattern}")
        return text
    return plant


# Where (language and page), how, and what the report must say.
IN_SITE = [
    ("en", CHAPTER, swap('href="start.html"', 'href="begin.html"'), "no such file: begin.html"),
    ("en", CHAPTER, swap('href="ch05_kv_cache.html"', 'href="ch05_kv_cache.html#nowhere"'),
     "no such anchor"),
    ("en", CHAPTER, swap('src="book.js"', 'src="https://example.org/book.js"'),
     "loads from the network"),
    ("en", CHAPTER, swap('src="book.js"', 'src="boook.js"'), "no such file: boook.js"),
    ("en", CHAPTER, swap('id="ch04-world"', 'id="ch04-wrong"'), "id used twice"),
    ("en", CHAPTER, swap("</p>", ""), "line "),
    ("en", CHAPTER, swap('<h1 class="title">', '<h1>One more</h1><h1 class="title">'), "h1"),
    ("en", CHAPTER, swap('<html lang="en">', '<html lang="de">'), "lang is"),
    ("en", CHAPTER, swap("Guess first</h2>", "Guess **first**</h2>"), "left of Markdown"),
    ("en", CHAPTER, swap("<p>", r"<p>{{04.read_512}} "), "left of Markdown"),
    ("en", CHAPTER, swap("<p>", r"<p>\\figure{04-rates} "), "left of Markdown"),
    ("en", CHAPTER, swap('data-answer="C"', 'data-answer="E"'), "guess read_or_write"),
    ("en", CHAPTER, swap('data-answer="C"', 'data-answer="B"'), "quiz differ"),
    ("en", CHAPTER, swap("<li>D[^<]*</li>", ""), "expected 4 choices"),
    ("en", CHAPTER, swap('<details class="reveal"', '<details class="hidden"'), "reveal"),
    ("en", CHAPTER, swap('<section class="homework">', "<section>"), "without a homework"),
    ("en", CHAPTER, swap('class="figure map"', 'class="plan"'), "without a map"),
    ("en", CHAPTER, swap('<p class="keep">', "<p>"), "without a sentence"),
    ("en", CHAPTER, swap("<p>", "<p>" + "so to speak " * 600), "words, found"),
    ("en", CHAPTER, swap("<p>", "<p><!--" + "x" * 300000 + "-->"), "bytes with what it loads"),
    ("en", CHAPTER, swap('role="img"', 'role="presentation"'), "screen reader"),
    ("zh", CHAPTER, swap('<div class="fragment".*?</div><!-- fragment -->', ""), "code differ"),
    ("zh", CHAPTER, swap('<figure class="figure" .*?</figure>', ""), "figures differ"),
    ("zh", CHAPTER, swap("<td>[^<]*</td>", ""), "tables differ"),
    ("zh", CHAPTER, swap("<math.*?</math>", ""), "formulas differ"),
    ("zh", CHAPTER, swap('id="ch04-try"', 'id="ch04-do"'), "ids differ"),
    ("zh", CHAPTER, swap("<p>", "<p>" + "This paragraph was never put into Chinese. " * 3 +
                         "</p><p>"), "not translated"),
    ("zh", CHAPTER, lambda text: None, "in one language only"),
]


def site_refused(expect):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "book"
        shutil.copytree(ROOT / "build/book", copy)
        sites = check_site.load(copy)
        for lang, name, plant, said in IN_SITE:
            file, sound = copy / lang / name, sites[lang][name]
            text = file.read_text(encoding="utf-8")
            faulty = plant(text)
            if faulty is None:
                del sites[lang][name]
            else:
                file.write_text(faulty, encoding="utf-8")
                sites[lang][name] = check_site.Page(file)
            found = check_site.faults_of(copy, sites)
            file.write_text(text, encoding="utf-8")
            sites[lang][name] = sound
            expect(any(name in line and said in line for line in found),
                   f"'{said}' is reported, found: {found[:3]}")


def main():
    failed = []

    def expect(holds, what):
        if not holds:
            failed.append(what)
            print("FAILED: " + what)

    pages_refused(expect)
    site_refused(expect)
    print(f"{2 * len(IN_PAGES) + 1 + len(IN_SITE)} faults planted, {len(failed)} got by")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
