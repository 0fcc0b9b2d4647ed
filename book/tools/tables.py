"""The tables of the book, made from results files and from the course's figures."""

from html import escape

from quantities import Missing
from words import WORDS


def table(head, rows, caption, kind, foot=""):
    """rows: lists of cells, each HTML; the first cell of a row is its heading."""
    out = [f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
           f'<table class="{kind}"><caption>{escape(caption)}</caption><thead><tr>']
    out += [f'<th scope="col">{cell}</th>' for cell in head]
    out.append("</tr></thead><tbody>")
    for first, *rest in rows:
        out.append(f'<tr><th scope="row">{first}</th>' +
                   "".join(f"<td>{cell}</td>" for cell in rest) + "</tr>")
    return "".join(out) + f"</tbody></table></div>{foot}"


def results_table(numbers, chapter, ids=()):
    """The rows of a chapter's results file: predicted, measured, printed by the course, and
    the reader's own where scripts/run has left some."""
    words = WORDS[numbers.lang]
    if chapter not in numbers.results:
        raise Missing(f"no results file of chapter {chapter}")
    results, yours = numbers.results[chapter], numbers.yours.get(chapter)
    rows = results["rows"]
    for id in ids:
        if id not in [row["id"] for row in rows]:
            raise Missing(f"the results file of chapter {chapter} has no row '{id}'")
    if ids:
        rows = [row for row in rows if row["id"] in ids]
    own = {row["id"]: row for row in yours["rows"]} if yours else {}

    columns = {"predicted": any(row["predicted"] is not None for row in rows),
               "measured": True,
               "course": any(course_cell(numbers, row["id"]) for row in rows),
               "yours": bool(own)}
    head = [escape(words["what"])]
    for name, present in columns.items():
        if present:
            quick = name == "yours" and yours["quick"]
            head.append(escape(words["yours_quick" if quick else name]))
    body = []
    for row in rows:
        cells = {"predicted": numbers.number(row["predicted"], row["unit"])
                 if row["predicted"] is not None else "",
                 "measured": measured_cell(numbers, row["measured"], row["unit"]),
                 "course": course_cell(numbers, row["id"])}
        if own:
            mine = own.get(row["id"])
            cells["yours"] = measured_cell(numbers, mine["measured"], mine["unit"]) if mine else ""
            if mine and mine["what"] != row["what"]:  # --quick reads and writes less
                cells["yours"] += f'<small lang="en">{escape(mine["what"])}</small>'
        body.append([escape(numbers.what(chapter, row["what"]))] +
                    [cells[name] for name, present in columns.items() if present])
    return table(head, body, words["all_rows"].format(chapter), "results",
                 f'<p class="source">{origin(numbers, results, yours)}</p>')


def measured_cell(numbers, measured, unit):
    """The median; below it the least and the most, where there was more than one run."""
    words, text = WORDS[numbers.lang], numbers.number(measured["median"], unit)
    if measured["runs"] == 1 or measured["min"] == measured["max"]:
        return text
    least, most = (numbers.number(measured[end], unit) for end in ("min", "max"))
    shared = least.partition(" ")[2]  # a unit that both have is said once
    if shared and most.endswith(" " + shared):
        least = least.partition(" ")[0]
    return f'{text}<small title="{words["between"]}">{words["to"].format(least, most)}</small>'


def course_cell(numbers, id):
    entry = numbers.course.get(id)
    if not entry or isinstance(entry["value"], (bool, str)):
        return ""
    text = numbers.number(entry["value"], entry["unit"], printed=True)
    if entry.get("erratum"):
        text += f'<small>{WORDS[numbers.lang]["erratum"]}</small>'
    return text


def origin(numbers, results, yours=None):
    """Where the numbers come from: machine, model, date, commit."""
    words = WORDS[numbers.lang]

    def machine(of):
        ceilings = of["machine"]["ceilings"]
        return {"cpu": escape(of["machine"]["cpu"]), "date": of["date"][:10],
                "bandwidth": numbers.number(ceilings["read_bandwidth"], "bytes/s"),
                "peak": numbers.number(ceilings["multiply_add_peak"], "FLOP/s")}

    model = words["model"].format(**results["model"]) if results["model"] else ""
    text = words["measured_on"].format(
        **machine(results), threads=results["machine"]["threads"],
        cores=results["machine"]["cores"], model=escape(model), commit=results["commit"])
    return text + (words["your_machine"].format(**machine(yours)) if yours else "")


def published_table(numbers):
    """Every entry of data/published.json. What each figure says is English in both."""
    words = WORDS[numbers.lang]
    rows = []
    for entry in numbers.course.values():
        value = entry["value"]
        if value is True:
            value = words["yes"]
        elif isinstance(value, str):
            value = f'<span lang="en">{escape(value)}</span>'
        else:
            value = numbers.number(value, entry["unit"], printed=True)
        what = f'<code>{entry["id"]}</code><small lang="en">{escape(entry["what"])}'
        if entry.get("note"):
            what += f' <em>{escape(entry["note"])}</em>'
        kind = words[entry["kind"]] + (f' · {words["erratum"]}' if entry.get("erratum") else "")
        rows.append([what + "</small>", value, kind,
                     f'<span lang="en">{escape(entry["source"])}</span>'])
    head = [escape(words[name]) for name in ("figure", "printed", "kind", "source")]
    return table(head, rows, words["published"], "published")
