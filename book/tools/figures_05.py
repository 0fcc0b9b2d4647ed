"""Chapter 05: with a cache and without."""

from figures import exhibit, figure, note, predicted_measured, row
from svg import WIDTH, Drawing, Plot, linear, log, short, steps


@figure("05-elapsed", {
    "title": ("Seconds against tokens written, with a KV cache and without",
              "有无 KV 缓存：写出的 token 数与用时"),
    "x": ("tokens written", "写出的 token 数"),
    "with": ("with a cache: {value} s", "有缓存：{value} 秒"),
    "without": ("without: {value} s", "没有缓存：{value} 秒"),
    "caption": (
        "Seconds until so many tokens are written. After {tokens}: {without} s without a KV cache, "
        "{with_} s with one. Without, every token needs a longer pass than the one before.",
        "写出这么多 token 用了多少秒。到第 {tokens} 个：没有 KV 缓存 {without} 秒，有缓存 {with_} 秒。"
        "没有缓存，每个 token 都要比前一个多算一截。"),
    "with s": ("with, s", "有缓存，秒"),
    "without s": ("without, s", "没有缓存，秒"),
})
def elapsed(book, say):
    rows = exhibit(book, "05", "elapsed")
    last = rows[-1]
    n, slow, fast = last["tokens"], last["without_seconds"], last["with_seconds"]
    guesses = [(int(m), css, row(book, "05", f"cache_{m}_{way}_seconds")["predicted"])
               for m in (256, 768) for way, css in (("without", "write"), ("with", "read"))]
    guesses = [g for g in guesses if g[0] <= n]
    d, yticks = Drawing(324), steps(1.05 * max(slow, *(g[2] for g in guesses), fast), 4)
    plot = Plot(d, linear(0, n, 54, 388), linear(0, yticks[-1], 276, 44), 54, 44, 392, 276)
    plot.axes([t for t in steps(n, 4) if t <= n], yticks, say("x"), say("seconds"))
    d.legend(34, predicted_measured(say, "neutral"), x=54)
    for way, css in (("without_seconds", "write"), ("with_seconds", "read")):
        plot.curve([(0, 0), *((r["tokens"], r[way]) for r in rows)], f"{css} measured")
        plot.mark("measured", n, last[way], css)
    for m, css, seconds in guesses:
        plot.mark("predicted", m, seconds, css)
    d.text(plot.x(n) - 16, max(60, plot.y(slow) + 5), say("without", value=short(slow)),
           "write strong", "end")
    near = plot.y(fast) - plot.y(slow) < 40
    d.text(plot.x(n), plot.y(fast) + (22 if near else -14), say("with", value=short(fast)),
           "read strong", "end")
    return (d, {"tokens": short(n), "without": short(slow), "with_": short(fast)},
            (("tokens", "with s", "without s"),
             [(short(r["tokens"]), f"{r['with_seconds']:.3g}", f"{r['without_seconds']:.3g}")
              for r in rows[3::4]]))


@figure("05-memory", {
    "title": ("Size of the KV cache against tokens kept", "KV 缓存的大小与 token 数"),
    "big": ("8B model, f16", "8B 模型，f16"),
    "f32": ("GPT-2 small, f32", "GPT-2 small，f32"),
    "f16": ("GPT-2 small, f16", "GPT-2 small，f16"),
    "each": ("{size} a token", "每个 token {size}"),
    "x": ("tokens in the cache", "缓存里的 token 数"),
    "caption": (
        "GPT-2 small with a full context of {short} tokens: {f32} in f32, {f16} in f16. An 8B "
        "model at {long}: {big}. Both axes are logarithmic; every line grows by the same bytes "
        "with each token.",
        "GPT-2 small 的上下文满到 {short} 个 token 时：f32 占 {f32}，f16 占 {f16}。8B 模型到 {long} 个："
        "{big}。两根轴都是对数刻度；每条线都是每多一个 token，就多同样多的字节。"),
})
def memory(book, say):
    def size(count):
        return book.number(count, "bytes")
    each = {"f32": note(book, "05", "kv_per_token_f32"), "f16": note(book, "05", "kv_per_token"),
            "big": note(book, "05", "kv_8b_per_token")}
    small = note(book, "05", "kv_full") / each["f16"]  # tokens, at most
    large = note(book, "05", "kv_8b_128k") / each["big"]
    d = Drawing(382)
    plot = Plot(d, log(1, 1.1 * large, 66, 388), log(2**14, 2**36, 334, 78), 62, 78, 392, 334)
    plot.axes([1, 32, small, large], [2**k for k in range(16, 37, 4)], say("x"), "", ysay=size)
    for i, (name, most, css) in enumerate((("big", large, "write"), ("f32", small, "read"),
                                           ("f16", small, "other dashed"))):
        d.line(0, 9 + 20 * i, 26, 9 + 20 * i, f"curve {css}")
        d.text(32, 14 + 20 * i, say(name))
        d.text(WIDTH, 14 + 20 * i, say("each", size=size(each[name])), "", "end")
        plot.curve([(1, each[name]), (most, each[name] * most)], css)
        plot.mark("measured", most, each[name] * most, css)
    full = {name: size(each[name] * small) for name in ("f32", "f16")}
    d.text(plot.x(large) - 10, plot.y(each["big"] * large) - 4, size(each["big"] * large),
           "write strong", "end")
    d.text(plot.x(small) + 10, plot.y(each["f32"] * small) + 8, full["f32"], "read strong")
    d.text(plot.x(small) + 10, plot.y(each["f16"] * small) + 16, full["f16"], "other strong")
    return d, full | {"short": short(small), "long": short(large), "big": size(each["big"] * large)}
