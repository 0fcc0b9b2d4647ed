"""Drawing in SVG, with nothing but the standard library.

A drawing is 400 units wide, a phone's width, and its text is set in 14 of them. On a
wide page the style sheet makes the drawing larger and its text smaller again, so what
has room here has room everywhere. Colours are classes: theme/figures.css names them
once for light and once for dark.
"""

from html import escape
from math import ceil, floor, log10
from unicodedata import east_asian_width

WIDTH = 400
TEXT = 14  # units


def width(words, size=TEXT):
    """About how wide these words come out, in units; a little too wide rather than not."""
    return size * sum(1.0 if east_asian_width(c) in "WF" else
                      0.3 if c in "il.,:;'|!()" else
                      0.88 if c in "mwMW%" else
                      0.7 if c.isupper() else 0.63 for c in words)


def short(value):
    """A number as an axis has it."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def attributes(names):
    return "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
                   for key, value in names.items() if value not in (None, ""))


class Drawing:
    """Shapes one after another; svg() wraps them, with what a screen reader says."""

    def __init__(self, height):
        self.height, self.parts = height, []

    def add(self, tag, inside=None, **names):
        rounded = {k: round(v, 2) if isinstance(v, float) else v for k, v in names.items()}
        body = "/>" if inside is None else f">{inside}</{tag}>"
        self.parts.append(f"<{tag}{attributes(rounded)}{body}")

    def text(self, x, y, words, css="", anchor="start", **more):
        self.add("text", escape(str(words)), x=x, y=y, class_=css,
                 text_anchor="" if anchor == "start" else anchor, **more)

    def line(self, x1, y1, x2, y2, css):
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=css)

    def rect(self, x, y, w, h, css, rx=None):
        self.add("rect", x=x, y=y, width=max(w, 0.0), height=max(h, 0.0), rx=rx, class_=css)

    def path(self, points, css, close=False, **more):
        self.add("path", class_=css, d="M" + "L".join(
            f"{x:.1f} {y:.1f}" for x, y in points) + ("Z" if close else ""), **more)

    def mark(self, shape, x, y, css, r=4.5):
        """A point. The shape says what it is, the colour only repeats it."""
        css = f"mark {shape} {css}"
        if shape == "measured":
            return self.add("circle", cx=x, cy=y, r=r, class_=css)
        corners = {"predicted": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
                   "course": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
                   "ratio": [(0, -1.3), (1.2, 0.9), (-1.2, 0.9)],
                   "yours": [(0, -1.5), (.4, -.4), (1.5, 0), (.4, .4), (0, 1.5), (-.4, .4),
                             (-1.5, 0), (-.4, -.4)]}[shape]
        self.path([(x + r * a, y + r * b) for a, b in corners], css, close=True)

    def arrow(self, points, css="flow"):
        """Lines from point to point, and a head at the end of the last."""
        self.path(points, css)
        (x0, y0), (x, y) = points[-2], points[-1]
        length = max(1e-9, ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5)
        u, v = (x - x0) / length, (y - y0) / length
        self.path([(x, y), (x - 7 * u - 4 * v, y - 7 * v + 4 * u),
                   (x - 7 * u + 4 * v, y - 7 * v - 4 * u)], css + " head", close=True)

    def legend(self, y, entries, x=0):
        """Marks and what they mean, one beside the other: (shape, css, words)."""
        for shape, css, words in entries:
            if shape == "swatch":
                self.rect(x, y - 11, 13, 13, css, rx=2)
            else:
                self.mark(shape, x + 7, y - 5, css)
            self.text(x + 19, y, words)
            x += 35 + width(words)

    def svg(self, name, title, description):
        return (f'<svg class="drawing" viewBox="0 0 {WIDTH} {self.height:.0f}" role="img" '
                f'aria-labelledby="{name}-title {name}-desc">'
                f'<title id="{name}-title">{escape(title)}</title>'
                f'<desc id="{name}-desc">{escape(description)}</desc>'
                + "".join(self.parts) + "</svg>")


def linear(low, high, start, end):
    return lambda v: start + (v - low) / (high - low) * (end - start)


def log(low, high, start, end):
    at = linear(log10(low), log10(high), start, end)
    return lambda v: at(log10(v))


def steps(high, count=5):
    """Round numbers from 0 to just past `high`."""
    step = 10.0 ** floor(log10(high / count))
    step *= next(m for m in (1, 2, 2.5, 5, 10) if high / (step * m) <= count)
    return [round(step * i, 12) for i in range(ceil(high / step - 1e-9) + 1)]


def decades(low, high):
    """Powers of ten that enclose both."""
    return [10.0 ** k for k in range(floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9) + 1)]


def log_axis(values, start, end):
    """A scale with room for all of them, and its ticks: 1, 2, 5 where their numbers have
    room beside each other, else powers of ten, or every other of those."""
    low, high = 0.8 * min(values), 1.25 * max(values)
    at = log(low, high, start, end)
    powers = [t for t in decades(low, high) if low <= t <= high]
    fine = [m * t for t in decades(low / 10, high) for m in (1, 2, 5) if low <= m * t <= high]
    for ticks in (fine, powers, powers[::2], powers[::3]):
        room = (at(b) - at(a) - width(short(a) + short(b)) / 2 for a, b in zip(ticks, ticks[1:]))
        if min(room, default=9) > 8:
            break
    return at, ticks


class Plot:
    """A frame with two axes: grid lines, ticks, and what they count."""

    def __init__(self, drawing, x, y, left, top, right, bottom):
        self.d, self.x, self.y = drawing, x, y
        self.left, self.top, self.right, self.bottom = left, top, right, bottom
        self.taken = []  # by labels

    def axes(self, xticks, yticks, xname, yname, ysay=None):
        d = self.d
        for v in yticks:
            d.line(self.left, self.y(v), self.right, self.y(v), "grid")
            d.text(self.left - 6, self.y(v) + 5, (ysay or short)(v), "tick", "end")
        for v in xticks:
            d.line(self.x(v), self.bottom, self.x(v), self.bottom + 5, "axis")
            words = short(v)
            d.text(min(self.x(v), WIDTH - width(words) / 2), self.bottom + 20, words, "tick",
                   "middle")
        d.line(self.left, self.bottom, self.right, self.bottom, "axis")
        d.text(0, 13, yname, "name")
        d.text(WIDTH, self.bottom + 40, xname, "name", "end")

    def curve(self, points, css):
        self.d.path([(self.x(a), self.y(b)) for a, b in points], "curve " + css)

    def mark(self, shape, a, b, css):
        self.d.mark(shape, self.x(a), self.y(b), css)

    def whisker(self, a, low, high, css):
        self.d.line(self.x(a), self.y(low), self.x(a), self.y(high), "whisker " + css)

    def label(self, words, css, *places):
        """At the first of the places (x, baseline, anchor) that is free; at none, if none is."""
        for x, y, anchor in places:
            left = x - width(words) * (anchor == "end")
            a, b, c, d = left, left + width(words), y - 12, y + 3
            if self.left < a and b < WIDTH and d < self.bottom and all(
                    a > f or b < e or c > h or d < g for e, f, g, h in self.taken):
                self.taken.append((a, b, c, d))
                return self.d.text(x, y, words, css, anchor)
