#!/usr/bin/env python3
"""Drives the book in headless Chromium: check_browser.py [FOLDER] [--pictures FOLDER]

Every page at 1280 and 390 px, light and dark: nothing runs over, nothing is cut, nothing is
too faint. Then what a reader does: guesses with the keyboard, calculates, searches, changes
theme and language, does without scripts. Status 0; 1 with a line for every fault; 77 where
there is no Chromium, or no selenium to drive it.
"""

import argparse
import base64
import json
import pathlib
import re
import shutil
import sys
import tempfile
import time

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    print("no selenium: skipped")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHROMIUM, DRIVER = (shutil.which(name) for name in ("chromium", "chromedriver"))
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND"]

# A page's text against what lies behind it: WCAG 2, 4.5 to 1. Text in a drawing may lie on
# a filled shape: the last shape of the drawing before it that covers its middle.
CONTRAST = """
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const seen = new Map();
const rgb = (color) => {
  if (!seen.has(color)) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    seen.set(color, [...canvas.getImageData(0, 0, 1, 1).data]);
  }
  const [r, g, b, a] = seen.get(color);
  return {c: [r, g, b], a: a / 255};
};
const over = (top, under) => top.c.map((v, k) => v * top.a + under[k] * (1 - top.a));
const light = (c) => {
  const [r, g, b] = c.map((v) => {
    v /= 255;
    return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  });
  return .2126 * r + .7152 * g + .0722 * b;
};
const once = (f) => {  // f of an element, computed once
  const known = new Map();
  return (e) => {
    if (!known.has(e)) known.set(e, f(e));
    return known.get(e);
  };
};
const behind = once((e) => {
  if (!e) return [255, 255, 255];
  const layer = rgb(getComputedStyle(e).backgroundColor);
  return layer.a > .99 ? layer.c : over(layer, behind(e.parentElement));
});
const strength = once((e) => !e || e === document.body ? 1
  : getComputedStyle(e).opacity * strength(e.parentElement));
const drawn = (text, svg) => {
  const box = text.getBoundingClientRect();
  const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  let under = behind(svg);
  for (const shape of svg.querySelectorAll('rect, circle, path, text')) {
    if (shape === text) break;
    if (shape.tagName === 'text' || shape.closest('defs')) continue;
    const style = getComputedStyle(shape), b = shape.getBoundingClientRect();
    if (style.fill === 'none' || style.fill.startsWith('url')) continue;
    if (x < b.left || x > b.right || y < b.top || y > b.bottom) continue;
    if (shape.tagName === 'path' || shape.tagName === 'circle') {
      const point = new DOMPoint(x, y).matrixTransform(shape.getScreenCTM().inverse());
      if (!shape.isPointInFill(point)) continue;
    }
    const fill = rgb(style.fill);
    fill.a *= style.fillOpacity * style.opacity;
    under = over(fill, under);
  }
  return under;
};
const low = new Set();
for (const e of document.querySelectorAll('body *')) {
  if (e.closest('[hidden], .skip, defs') || !e.getClientRects().length) continue;
  if (!e.checkVisibility()) continue;
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
  if (['TITLE', 'DESC', 'title', 'desc', 'annotation'].includes(e.tagName)) continue;
  const svg = e.closest('svg'), style = getComputedStyle(e);
  const under = svg ? drawn(e.closest('text'), svg) : behind(e);
  const ink = rgb(svg ? style.fill : style.color);
  const a = light(over({c: ink.c, a: ink.a * strength(e)}, under)), b = light(under);
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5)
    low.add(ratio.toFixed(2) + ' ' + e.tagName + '.' + (e.getAttribute('class') || '') + ' ' +
            e.textContent.trim().slice(0, 24));
}
return [...low];"""

OVERFLOW = """
const width = document.documentElement.clientWidth, out = [];
if (document.documentElement.scrollWidth > width)
  for (const e of document.querySelectorAll('body *')) {
    const box = e.getBoundingClientRect();
    if (box.right > width + 1 && !e.closest('.scroll, .fragment, .memproto, pre, .formulaDsp'))
      out.push(e.tagName + '.' + (e.getAttribute('class') || ''));
  }
return out.slice(0, 4);"""

# Text in drawings: within the drawing, not over other text, and not too small to read.
DRAWINGS = """
const bad = [];
for (const svg of document.querySelectorAll('figure svg, .map svg')) {
  const box = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')].filter((e) => e.getClientRects().length)
    .map((e) => [e.getBoundingClientRect(), e.textContent, e]);
  texts.forEach(([r, text, e], k) => {
    if (r.left < box.left - 1 || r.right > box.right + 1 || r.bottom > box.bottom + 1 ||
        r.top < box.top - 1) bad.push('cut: ' + text);
    const scale = svg.getScreenCTM().a, size = parseFloat(getComputedStyle(e).fontSize) * scale;
    if (size < 10) bad.push(size.toFixed(1) + ' px: ' + text);
    if (e.hasAttribute('transform')) return;  // turned: its box is not its ink
    texts.slice(k + 1).forEach(([q, other, f]) => {
      if (f.hasAttribute('transform')) return;
      const dx = Math.min(r.right, q.right) - Math.max(r.left, q.left);
      const dy = Math.min(r.bottom, q.bottom) - Math.max(r.top, q.top);
      if (dx > 1 && dy > 4) bad.push('over each other: ' + text + ' / ' + other);
    });
  });
}
return bad.slice(0, 6);"""


class Book:
    """The book in a browser, and the list of what is wrong with it."""

    def __init__(self, root):
        self.root, self.faults, self.checks = root, [], 0
        self.profile = tempfile.mkdtemp(prefix="book-chromium-")
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in FLAGS + [f"--user-data-dir={self.profile}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.pages = {lang: sorted(p.name for p in (root / lang).glob("*.html")
                                   if not p.name.endswith("_source.html"))
                      for lang in ("en", "zh")}
        self.chapters = [name for name in self.pages["en"] if re.match(r"ch\d\d_", name)]

    def close(self):
        self.driver.quit()
        shutil.rmtree(self.profile, ignore_errors=True)

    def expect(self, holds, what):
        self.checks += 1
        if not holds:
            self.faults.append(what)
            print("FAILED: " + what, flush=True)

    def size(self, width, height=900):
        phone = width < 500
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 2 if phone else 1,
            "mobile": phone})

    def scheme(self, value):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": value}]})

    def open(self, path):
        file, _, anchor = path.partition("#")
        self.driver.get((self.root / file).as_uri() + (f"#{anchor}" if anchor else ""))
        self.until(lambda: self.js("return document.readyState") == "complete")

    def until(self, condition):
        WebDriverWait(self.driver, 10).until(lambda _: condition())

    def js(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def kept(self, act, path, code, value):
        """What a reader's act stores is there on another page, a little later. Now and then
        Chromium gives a page from a file a store of its own, lost with the page: act again."""
        for attempt in range(3):
            if attempt:
                act()
            for _ in range(10):
                self.open(path)
                found = self.js(code)
                if found == value:
                    return found
                time.sleep(.1)
        return found

    def one(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def many(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def here(self):
        return "/".join(self.driver.current_url.split("/")[-2:])

    def picture(self, file):
        page = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": page["width"], "height": page["height"],
                     "scale": 1}})
        file.write_bytes(base64.b64decode(shot["data"]))


def check_looks(book, pictures):
    """Every page of the book, and of the reference what is widest."""
    reference = [name for name in book.pages["en"] if re.match(r"(class|struct|namespace)", name)]
    widest = sorted(reference, key=lambda n: -(book.root / "en" / n).stat().st_size)[:4]
    for lang, names in book.pages.items():
        for name in names:
            if name in reference and name not in widest:
                continue
            for width in (1280, 390):
                book.size(width)
                book.open(f"{lang}/{name}")
                book.js("document.querySelectorAll('details').forEach((d) => d.open = true)")
                for scheme in ("light", "dark"):
                    book.js("const c = document.documentElement.classList;"
                            "c.remove('light-mode', 'dark-mode'); c.add(arguments[0])",
                            f"{scheme}-mode")
                    where = f"{lang}/{name}, {width} px, {scheme}"
                    for what, code in (("runs over", OVERFLOW), ("drawing", DRAWINGS),
                                       ("too faint", CONTRAST)):
                        found = book.js(code)
                        book.expect(not found, f"{where}: {what}: {found}")
                    if pictures:
                        book.picture(pictures / f"{lang}-{name[:-5]}-{width}-{scheme}.png")
    book.size(1280)


def check_theme(book):
    first, other = (f"{lang}/{book.chapters[0]}" for lang in ("en", "zh"))

    def choose_dark():
        book.open(first)
        book.one("#themetoggle").send_keys(Keys.ENTER)

    for scheme in ("dark", "light"):
        book.scheme(scheme)
        book.open(first)
        mode = book.js("return document.documentElement.className")
        book.expect(mode == f"{scheme}-mode", f"the system's theme is kept: {mode}, not {scheme}")
    choose_dark()
    kept = book.kept(choose_dark, other, "return document.documentElement.className",
                     "dark-mode")
    book.expect(kept == "dark-mode", f"the theme that was chosen stays on the next page: {kept}")


def check_language(book):
    name = book.chapters[-1]
    book.open(f"en/{name}#{name[:4]}-measured")
    book.one("#langswitch").click()
    book.expect(book.here() == f"zh/{name}#{name[:4]}-measured",
                f"the other language opens at the same section, not at {book.here()}")
    top = book.js("return document.getElementById(arguments[0]).getBoundingClientRect().top",
                  f"{name[:4]}-measured")
    book.expect(0 < top < 300, f"the section is in view, below the bar: {top:.0f} px")


def check_guesses(book):
    """With the keyboard alone, on every page that asks."""
    for name in ["index.html"] + book.chapters:
        for lang, right in (("en", "that is right"), ("zh", "猜对了")):
            where = f"{lang}/{name}"

            def choose(where=where):
                book.open(where)
                answer = book.one(".guess").get_attribute("data-answer")
                radios = book.many(".guess input[type=radio]")
                radios[0].send_keys(Keys.SPACE)
                for _ in range(ord(answer) - ord("A")):
                    book.driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
                return radios, answer

            radios, answer = choose()
            book.expect(len(radios) == 4, f"{where}: four choices, not {len(radios)}")
            checked = book.js("return document.querySelector('.guess input:checked').value")
            book.expect(checked == answer, f"{where}: arrow keys reach {answer}, not {checked}")
            book.expect(not book.many(".guess .right"), f"{where}: no answer before the reveal")
            book.one("details.reveal summary").send_keys(Keys.ENTER)
            book.until(lambda: book.many("details.reveal .kicker") and
                       book.one("details.reveal .kicker").text)
            said = book.one(".guess .said")
            book.expect(right in said.text and said.get_attribute("role") == "status",
                        f"{where}: the reveal says aloud how the guess was: {said.text!r}")
            book.expect(len(book.many(".guess .right")) == 1, f"{where}: the answer is marked")
            other = f"{'zh' if lang == 'en' else 'en'}/{name}"
            kept = book.kept(
                choose, other, "return document.querySelector('.guess input:checked')?.value",
                answer)
            book.expect(kept == answer, f"{other}: the guess from {where} is remembered")


def check_calculators(book):
    """They start with the example that stands in the page, and answer what is typed."""
    for name in book.pages["en"]:
        book.open(f"en/{name}")
        for form in book.many("form.calculator"):
            kind = form.get_attribute("data-calculator")

            def answers():
                return [o.text for o in form.find_elements(By.CSS_SELECTOR, "output")]

            source = (book.root / "en" / name).read_text(encoding="utf-8")
            part = source[source.index(f'id="calculator-{kind}"'):].split("</form>")[0]
            written = re.findall(r"<output[^>]*>([^<]*)</output>", part)
            book.expect(answers() == written, f"{kind}: {answers()} is computed, the page "
                        f"without scripts says {written}")
            field = form.find_element(By.CSS_SELECTOR, "input")
            value = field.get_attribute("value")
            field.send_keys(Keys.CONTROL, "a", Keys.DELETE)
            book.expect(set(answers()) == {"–"} and field.get_attribute("aria-invalid") == "true",
                        f"{kind}: an empty field is marked, and nothing is claimed")
            field.send_keys("-3")
            book.expect(set(answers()) == {"–"}, f"{kind}: so is a negative number")
            field.send_keys(Keys.CONTROL, "a", Keys.DELETE)
            field.send_keys(str(2 * int(value)))
            book.expect("–" not in answers() and answers() != written,
                        f"{kind}: another number gives another answer")


def check_search(book):
    for lang, words, target in (("en", "batch", ""), ("en", "KV cache", "ch05_kv_cache.html"),
                                ("en", "causal MASK", "ch03_parallel_read.html"),
                                ("zh", "溢出", ""), ("zh", "屋顶线", "ch07_two_ceilings.html"),
                                ("zh", "batch", ""), ("zh", "预填充", "")):
        book.open(f"{lang}/index.html")
        book.one("#booksearch-field").send_keys(words)
        book.until(lambda: book.many("#booksearch-results li"))
        found = [a.get_attribute("href").split("/")[-1]
                 for a in book.many("#booksearch-results a")]
        book.expect(any(hit.startswith(target) for hit in found),
                    f"{lang}: '{words}' finds {target or 'something'}, not {found}")
    book.one("#booksearch-field").send_keys(Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ARROW_DOWN)
    chosen = book.one("#booksearch-results [aria-selected=true] a").get_attribute("href")
    book.one("#booksearch-field").send_keys(Keys.ENTER)
    book.until(lambda: book.driver.current_url == chosen)
    book.open("en/index.html")
    book.one("#booksearch-field").send_keys("xyzzyplugh")
    book.until(lambda: book.many("#booksearch-results .none"))


def check_order(book):
    """'Next' walks through the whole book."""
    for lang in ("en", "zh"):
        book.open(f"{lang}/index.html")
        seen = [book.here()]
        while book.many("a.next") and len(seen) < 100:
            book.one("a.next").click()
            seen.append(book.here())
        contents = [a.get_attribute("href").split("/")[-1] for a in book.many("#sidebar a")]
        expected = [f"{lang}/{name}" for name in contents[:len(seen)]]
        book.expect(seen == expected, f"'next' goes through the contents: {seen}")
        book.expect(set(book.chapters) <= set(contents), f"{lang}: all chapters in the contents")


def check_phone(book):
    book.size(390, 844)
    book.open(f"en/{book.chapters[0]}")
    menu = book.one("#menutoggle")
    book.expect(not book.one("#sidebar").is_displayed(), "phone: contents closed at first")
    menu.send_keys(Keys.ENTER)
    book.expect(book.one("#sidebar").is_displayed() and
                menu.get_attribute("aria-expanded") == "true", "phone: the button opens them")
    book.size(1280)


def check_without_scripts(book):
    book.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    name = book.chapters[0]
    book.driver.get((book.root / "en" / name).as_uri())
    book.expect(len(book.many(".guess li")) == 4, "without scripts: a guess is a list of four")
    book.expect(book.one("#langswitch").get_attribute("href").endswith(f"zh/{name}"),
                "without scripts: the way to the other language is there")
    book.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def check_quiet(book):
    """No request left the machine; no script complained."""
    outside = set()
    for entry in book.driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if not url.startswith(("file:", "data:", "about:", "chrome:")):
                outside.add(url)
    book.expect(not outside, f"requests to the outside: {sorted(outside)[:3]}")
    log = [entry["message"] for entry in book.driver.get_log("browser")
           if entry["level"] == "SEVERE"]
    book.expect(not log, f"the console says: {log[:3]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / "build/book")
    parser.add_argument("--pictures", type=pathlib.Path, metavar="FOLDER",
                        help="keep a picture of every page there")
    arguments = parser.parse_args()
    if not CHROMIUM or not DRIVER:
        print("no Chromium, or no chromedriver: skipped")
        return 77
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    book = Book(arguments.folder.resolve())
    try:
        check_looks(book, arguments.pictures)
        for check in (check_theme, check_language, check_guesses, check_calculators,
                      check_search, check_order, check_phone, check_without_scripts,
                      check_quiet):
            check(book)
    finally:
        book.close()
    print(f"{book.checks} checks, {len(book.faults)} failed")
    return bool(book.faults)


if __name__ == "__main__":
    sys.exit(main())
