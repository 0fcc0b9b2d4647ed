"""Chapter 00: a wait, then a beat."""

from itertools import accumulate

from figures import exhibit, figure, shown, tidy
from svg import WIDTH, Drawing, width


@figure("00-beats", {
    "title": ("A streamed answer as a time line", "流式输出的时间线"),
    "wait": ("wait: {wait}", "等待：{wait}"),
    "caption": (
        "Time runs from left to right, line by line. A wait of {wait} while the prompt is read, "
        "then a tick for each token; half of the gaps are {beat} or more. {seen} of {all} tokens "
        "are shown.",
        "时间从左到右，一行接一行。先等 {wait}，这是在读提示；然后一个 token 一格，间隔的中位数是 "
        "{beat}。图里是 {all} 个 token 中的前 {seen} 个。"),
})
def beats(book, say, lines=6, end=362, pitch=64):
    rows = exhibit(book, "00", "beats")
    times = list(accumulate(r["seconds"] for r in rows))  # each counts from the token before
    gaps = sorted(r["seconds"] for r in rows[1:]) or times
    beat = gaps[len(gaps) // 2]
    # A line lasts as long as lets nine of ten pieces end before the next begins.
    room = sorted((width(shown(r["piece"])) + 10) / max(then["seconds"], beat / 4)
                  for r, then in zip(rows, rows[1:])) or [end / times[0]]
    line = tidy(max(end / room[int(0.9 * (len(room) - 1))], times[0] / 2))
    seen = [(t, shown(r["piece"])) for t, r in zip(times, rows) if t < line * lines]

    count = int(seen[-1][0] / line) + 1
    d = Drawing(pitch * count + 2)
    for k in range(count):
        base = pitch * k + 40
        d.line(0, base, end, base, "axis")
        d.text(0, base + 18, book.number(k * line, "s") if k else "0", "tick")
        if times[0] > k * line:
            d.rect(0, base - 10, end * min(1, times[0] / line - k), 10, "bar read")
    wait = book.number(times[0], "s")
    d.text(18, 58, say("wait", wait=wait), "read")
    free = {}  # where the text of a line's lower and upper level ends
    for t, piece in seen:
        k = int(t / line)
        x, base = end * (t / line - k), pitch * k + 40
        left = min(max(0, x - 1), WIDTH - width(piece) - 1)
        level = next((level for level in (0, 1) if free.get((k, level), -9) + 3 <= left), None)
        d.line(x, base - 12 - 14 * (level or 0), x, base, "whisker write")
        if level is not None:
            d.text(left, base - 15 - 14 * level, piece)
            free[k, level] = left + width(piece)
    return d, {"wait": wait, "beat": book.number(beat, "s"), "seen": len(seen), "all": len(rows)}
