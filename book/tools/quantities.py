"""The numbers of the book, by name: results files, the course's figures, and sums of them.

Nobody types a measured number into a page. A page says {{04.read_over_write}}, and the
build puts the figure there, in the page's language, or fails.
"""

import ast
import json
import math
import pathlib
import re

REFERENCE = "amd-epyc-2-cores"  # the machine whose results the pages quote


class Missing(Exception):
    """A name that no results file, and no figure of the course, answers to."""


UNITS_ZH = {
    "times": "倍", "s": "秒", "ms": "毫秒", "µs": "微秒", "min": "分钟", "bytes": "字节",
    "tokens": "个 token", "token/s": "token/秒", "bits": "比特", "candidates": "个候选",
    "million": "百万", "exercises": "道题", "uses": "次", "votes": "票", "samples": "个样本",
    "sequences": "条序列",
    "cost": "", "probability": "", "logit": "", "statement": "",
    "dollars": "美元", "dollars per million tokens": "美元/百万 token", "GB·s": "GB·秒", "MB·s": "MB·秒", "copies": "份", "blocks": "块",
}
UNITS_EN = {"probability": "", "cost": "", "logit": "", "statement": "",
            "dollars per million tokens": "dollars per million tokens"}

BINARY = [(1, "bytes"), (2**10, "KiB"), (2**20, "MiB"), (2**30, "GiB"), (2**40, "TiB")]
DECIMAL = [(1, "bytes"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")]
SCALES = {
    "bytes": BINARY,
    "s": [(1e-6, "µs"), (1e-3, "ms"), (1, "s")],
    "bytes/s": [(1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s")],
    "FLOP/s": [(1e6, "MFLOP/s"), (1e9, "GFLOP/s"), (1e12, "TFLOP/s")],
}


def number(value):
    """Whole numbers in full, others to three digits: as the programs print them."""
    if value == round(value) and abs(value) < 2**53:
        return f"{value:,.0f}"
    if abs(value) < 999.5:
        text = f"{value:.3g}"
        if "e" in text:
            mantissa, exponent = text.split("e")
            return f"{mantissa}·10{superscript(int(exponent))}"
        return text
    step = 10 ** (math.floor(math.log10(abs(value))) - 2)
    return f"{round(value / step) * step:,.0f}"


def superscript(exponent):
    return "".join("⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".index(c)] for c in str(exponent))


def scaled(value, scales):
    size, name = scales[0]
    for step in scales:
        if abs(value) >= step[0] * 0.9995:
            size, name = step
    return number(value / size), name


class Figure(float):
    """A number that knows its unit, and whether the course printed it. Sums of figures are
    plain numbers."""

    def __new__(cls, value, unit, printed=False, **more):
        self = super().__new__(cls, value)
        self.unit, self.printed = unit, printed
        self.__dict__.update(more)
        return self

    def __getattr__(self, name):
        raise Missing(f"no '{name}' of it")


class Names:
    """What may follow a dot: the entries of a dictionary, as attributes."""

    def __init__(self, where, entries):
        self.where, self.entries = where, entries

    def __getitem__(self, name):
        try:
            return self.entries[name]
        except KeyError:
            raise Missing(f"{self.where} has no '{name}'") from None

    def __getattr__(self, name):
        return self[name]


class Numbers:
    """All that a page may quote, in one language ("en" or "zh").

    results, yours: chapter ("04") to the parsed results file of the reference machine, and
    of the reader's own last run; course: id to the entry of data/published.json.
    """

    def __init__(self, root, lang):
        self.root, self.lang = pathlib.Path(root), lang
        self.course = {e["id"]: e for e in self.load("data/published.json")}
        self.results = self.read_results(self.root / "data/results" / REFERENCE)
        self.yours = self.read_results(self.root / "build/results")
        self.translations = {}
        for file in sorted((self.root / "book/zh/rows").glob("*.json")):
            self.translations[file.stem] = self.load(file.relative_to(self.root))
        self.names = {"course": Names("data/published.json", {
            id: self.published(entry) for id, entry in self.course.items()})}
        for chapter, results in self.results.items():
            self.names["_" + chapter] = self.chapter(chapter, results)

    def load(self, path):
        return json.loads((self.root / path).read_text(encoding="utf-8"))

    @staticmethod
    def read_results(folder):
        """A file that cannot be read as results is left out: it may be half of a run."""
        found = {}
        for file in sorted(folder.glob("[0-9][0-9]_*.json")):
            try:
                results = json.loads(file.read_text(encoding="utf-8"))
                results["rows"], results["machine"]["ceilings"]
            except (ValueError, KeyError, TypeError) as fault:
                print(f"{file}: left out, not a results file ({fault})")
                continue
            found[file.name[:2]] = results
        return found

    def chapter(self, chapter, results):
        entries = {}
        for note in results["notes"]:
            figure = Figure(note["value"], note["unit"], **self.beside(note))
            entries[note["what"]] = figure
            if note["id"]:
                entries[note["id"]] = figure
        for row in results["rows"]:
            more = {name: Figure(row["measured"][name], "" if name == "runs" else row["unit"])
                    for name in ("min", "median", "max", "runs")}
            if row["predicted"] is not None:
                more["predicted"] = Figure(row["predicted"], row["unit"])
            figure = Figure(row["measured"]["median"], row["unit"], **more, **self.beside(row))
            entries[row["id"]] = entries[row["what"]] = figure
        ceilings = results["machine"]["ceilings"]
        units = {"read_bandwidth": "bytes/s", "cache_bandwidth": "bytes/s", "cache_bytes": "bytes"}
        entries["ceiling"] = Names(f"{chapter}.ceiling", {
            name: Figure(value, units.get(name, "FLOP/s")) for name, value in ceilings.items()})
        for part in ("machine", "model"):
            entries[part] = Names(f"{chapter}.{part}", {
                name: Figure(value, "bytes" if name.endswith("_bytes") else "")
                if isinstance(value, (int, float)) else value
                for name, value in (results[part] or {}).items()})
        entries["date"], entries["commit"] = results["date"][:10], results["commit"]
        return Names(f"the results file of chapter {chapter}", entries)

    def beside(self, row):
        entry = self.course.get(row["id"])
        return {"course": self.published(entry)} if entry else {}

    def published(self, entry):
        value = entry["value"]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return value
        return Figure(value, entry["unit"], printed=True)

    # Words
    # -----

    def unit(self, unit):
        return UNITS_ZH.get(unit, unit) if self.lang == "zh" else UNITS_EN.get(unit, unit)

    def number(self, value, unit="", printed=False):
        """"11.3 times" or "11.3 倍"; bytes and seconds get a prefix. A figure that somebody
        printed keeps all its digits."""
        if unit == "s" and abs(value) >= 120:
            text, unit = number(value / 60), "min"
        elif unit in SCALES:
            text, unit = scaled(value, SCALES[unit])
        elif printed and 1e-3 < abs(value) < 1e9:
            text = f"{value:,.12g}"
        else:
            text = number(value)
        unit = self.unit(unit)
        if unit == "%":
            return text + "%"
        return f"{text} {unit}" if unit else text

    def formatted(self, value, how):
        if how == "%":
            return f"{100 * value:.0f}%"
        if how == "int":
            return f"{value:,.0f}"
        if how == "bytes":
            text, unit = scaled(value, DECIMAL)
            return f"{text} {self.unit(unit)}"
        if how == "kib":
            return self.number(value, "bytes")
        if re.fullmatch(r"[+,]*\.?\d*[fge]", how):
            return format(value, how)
        return self.number(value, how)

    def what(self, chapter, text):
        """A row's words in the page's language."""
        if self.lang == "en":
            return text
        try:
            return self.translations[chapter][text]
        except KeyError:
            raise Missing(f"book/zh/rows/{chapter}.json has no '{text}'") from None

    # Sums
    # ----

    def evaluate(self, source):
        """The text for what stands between {{ and }}."""
        expression, _, how = source.partition("|")
        how = how.strip()
        value = self.value(expression)
        if isinstance(value, str):
            return value
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise Missing(f"{{{{{source}}}}} is no number")
        if not math.isfinite(value):
            raise Missing(f"{{{{{source}}}}} is {value}")
        if how:
            return self.formatted(value, how)
        if not isinstance(value, Figure):
            return self.number(value)
        return self.number(value, value.unit, value.printed)

    def value(self, expression):
        python = re.sub(r"(?<![\w.\"'])(\d\d)(?=\.[A-Za-z_]|\[)", r"_\1", expression).strip()
        names = {"abs": abs, "min": min, "max": max, "round": round, "log2": math.log2,
                 **self.names}
        try:
            tree = ast.parse(python, mode="eval")
            for node in ast.walk(tree):
                if isinstance(node, ast.Name) and node.id not in names:
                    raise Missing(f"no such name: {node.id.lstrip('_')}")
            return eval(compile(tree, expression, "eval"), {"__builtins__": {}}, names)
        except Missing as missing:
            raise Missing(f"{{{{{expression}}}}}: {missing}") from None
        except (SyntaxError, TypeError, ZeroDivisionError, ValueError) as fault:
            raise Missing(f"{{{{{expression}}}}}: {fault}") from None
