"""The figures of chapter 15: a GPU's kernels, counted."""

from figures import exhibit, figure, note
from svg import Drawing, linear, short, width

STAGES = {
    "s0": ("1. the query goes into shared memory", "1. 查询搬进共享内存"),
    "s1": ("2. scores, softmax, sum of values", "2. 打分，softmax，值的加权和"),
    "s2": ("3. four warps become one", "3. 四个线程束并成一个"),
    "s3": ("4. who came last?", "4. 谁最后到？"),
    "s4": ("5. the last one finishes", "5. 最后到的收尾"),
}


@figure("15-block", STAGES | {
    "title": ("One block of attention, from barrier to barrier", "一个注意力线程块，从屏障到屏障"),
    "device": ("device memory, bytes", "显存，字节"),
    "shared": ("shared memory, accesses", "共享内存，次数"),
    "barrier": ("barrier", "屏障"),
    "stage": ("stage", "阶段"),
    "shuffles": ("shuffles", "洗牌"),
    "item": ("{stage}: {device} bytes of device memory, {shared} accesses to shared memory",
             "{stage}：显存 {device} 字节，共享内存 {shared} 次"),
    "desc": ("{items}.", "{items}。"),
    "caption": (
        "What the 128 threads of one block ask for between two barriers: one head, {positions} "
        "positions, counted while the kernel ran. Nearly all of it is in stage 2.",
        "一个线程块的 128 个线程，在两道屏障之间要了什么：一个头，{positions} 个位置，运行时数出来的。"
        "几乎全在第 2 段。"),
})
def block(book, say):
    rows = exhibit(book, "15", "attend")
    cells = []
    for i, r in enumerate(rows):
        device = sum(r[k] for k in ("weights", "cache", "other", "stored"))
        cells.append((say(f"s{i}"), device, r["shared_reads"] + r["shared_writes"], r["shuffles"]))
    device_x = linear(0, max(c[1] for c in cells), 0, 300)
    shared_x = linear(0, max(c[2] for c in cells), 0, 300)
    d = Drawing(62 + 76 * len(cells) - 30)
    d.legend(14, [("swatch", "bar read", say("device"))])
    d.legend(34, [("swatch", "bar write", say("shared"))])
    for i, (name, device, shared, _) in enumerate(cells):
        y = 62 + 76 * i
        d.text(0, y, name)
        for j, (value, x, css) in enumerate(((device, device_x, "read"),
                                             (shared, shared_x, "write"))):
            d.rect(0, y + 8 + 18 * j, max(x(value), 1.5 if value else 0), 14, f"bar {css}")
            d.text(x(value) + 6, y + 20 + 18 * j, f"{value:,.0f}", "tick")
        if i + 1 < len(cells):
            d.line(0, y + 54, 400 - width(say("barrier"), 12) - 8, y + 54, "grid")
            d.text(400, y + 58, say("barrier"), "tick", "end")
    table = [(n, f"{a:,.0f}", f"{b:,.0f}", f"{c:,.0f}") for n, a, b, c in cells]
    items = say.each("item", ({"stage": n, "device": a, "shared": b} for n, a, b, _ in table))
    return (d, {"items": items, "positions": f"{note(book, '15', 'positions'):.0f}"},
            (("stage", "device", "shared", "shuffles"), table))


@figure("15-share", {
    "title": ("Whose bytes a written token is made of", "写一个 token，字节都是谁要的"),
    "kernel": ("kernel", "内核"),
    "there": ("at GPT-2 small's shape", "GPT-2 small 的形状"),
    "share": ("share", "占比"),
    "predicted": ("shipped model: ledger", "附带模型：账本"),
    "counted": ("shipped model: counted", "附带模型：数出来"),
    "item": ("{kernel} {share}%", "{kernel} {share}%"),
    "desc": ("{items}.", "{items}。"),
    "caption": (
        "GPT-2 small writing one token behind {past} others: bytes by kernel, by the ledger. The "
        "ledger's formula is the one that agreed with the count, byte for byte, on the shipped "
        "model.",
        "GPT-2 small 在 {past} 个 token 之后再写一个：各内核的字节，按账本算。同一个公式在附带的模型上和数出来的"
        "一个字节都不差。"),
})
def share(book, say):
    rows = exhibit(book, "15", "kernels")
    left = max(width(r["kernel"]) for r in rows) + 10
    x = linear(0, max(r["share"] for r in rows), 0, 330 - left)
    d = Drawing(30 * len(rows) + 4)
    for i, r in enumerate(rows):
        y = 30 * i + 4
        d.text(0, y + 15, r["kernel"])
        d.rect(left, y, max(x(r["share"]), 1), 20,
               f"bar {'read' if r['kernel'] == 'attend' else 'write'}")
        d.text(left + x(r["share"]) + 6, y + 15, f"{r['share']:.1f}%", "strong")
    table = [(r["kernel"], book.number(r["there"], "bytes"), f"{r['share']:.1f}%",
              f"{r['predicted']:,.0f}", f"{r['counted']:,.0f}") for r in rows]
    items = say.each("item", ({"kernel": r["kernel"], "share": f"{r['share']:.1f}"} for r in rows))
    return (d, {"items": items, "past": f"{note(book, '15', 'walk_whole') - 1:.0f}"},
            (("kernel", "there", "share", "predicted", "counted"), table))


def grid(d, top, number, busy, columns=22, pitch=18):
    """Multiprocessors, and on the first of them a block at work."""
    for i in range(number):
        css = "bar read" if i < busy else "bar open neutral"
        d.rect(1 + pitch * (i % columns), top + pitch * (i // columns), pitch - 4, pitch - 4, css,
               rx=2)
    return top + pitch * ((number + columns - 1) // columns)


@figure("15-splits", {
    "title": ("Multiprocessors with something to do", "有活干的多处理器"),
    "whole": ("a block for each head: {busy} at work", "一个头一个线程块：{busy} 个在干活"),
    "split": ("positions split: {busy} at work", "位置也分开：{busy} 个在干活"),
    "caption": (
        "Attention of one written token in GPT-2 small on a GPU of {number} multiprocessors, at "
        "best one block on each. Without splits {whole} of them work, and each block goes through "
        "{walk_whole} positions. With splits {split} work, through {walk_split} each.",
        "GPT-2 small 写一个 token 时的注意力，GPU 有 {number} 个多处理器，最好的情况是一块一个。不分：{whole} "
        "个在干活，每块走 {walk_whole} 个位置；分开：{split} 个在干活，每块走 {walk_split} 个。"),
})
def splits(book, say):
    number, whole, split, walk_whole, walk_split = (
        round(note(book, "15", name)) for name in
        ("multiprocessors", "blocks_whole", "blocks_split", "walk_whole", "walk_split"))
    d = Drawing(10)
    d.text(0, 14, say("whole", busy=min(whole, number)))
    middle = grid(d, 24, number, whole)
    d.text(0, middle + 26, say("split", busy=min(split, number)))
    d.height = grid(d, middle + 36, number, split) + 2
    return d, {"number": number, "whole": min(whole, number), "split": min(split, number),
               "walk_whole": walk_whole, "walk_split": walk_split}


@figure("15-floors", {
    "title": ("Reading over writing, by arithmetic", "读比写快多少倍，算出来的"),
    "here": ("this machine, f32", "这台机器，f32"),
    "machine": ("machine", "机器"),
    "ridge": ("FLOPs a byte", "每字节 FLOPs"),
    "reads": ("reads, token/s", "读，token/秒"),
    "writes": ("writes, token/s", "写，token/秒"),
    "ratio": ("ratio", "倍数"),
    "item": ("{machine}: {ratio} times", "{machine}：{ratio} 倍"),
    "desc": ("{items}.", "{items}。"),
    "caption": (
        "Arithmetic, not a measurement: {tokens} tokens read at once against written one by one, "
        "GPT-2 small, at the ceilings of each data sheet in 16 bits, and at this machine's "
        "measured ones.",
        "这是算的，没有量过：GPT-2 small，{tokens} 个 token 一次读完，对一个一个写。GPU 用数据表上 16 位的上限，"
        "这台机器用实测的上限。"),
})
def floors(book, say):
    rows = [r | {"machine": say("here") if r["id"] == "here" else r["machine"]}
            for r in exhibit(book, "15", "floors")]
    x = linear(0, max(r["ratio"] for r in rows), 0, 320)
    d = Drawing(48 * len(rows))
    for i, r in enumerate(rows):
        y = 48 * i
        d.text(0, y + 14, r["machine"])
        css = "bar write" if r["id"] == "here" else "bar open neutral"
        d.rect(1, y + 20, x(r["ratio"]), 16, css)
        d.text(x(r["ratio"]) + 8, y + 33, short(r["ratio"]), "strong")
    table = [(r["machine"], short(r["ridge"]), short(r["reads"]), short(r["writes"]),
              short(r["ratio"])) for r in rows]
    items = say.each("item", ({"machine": t[0], "ratio": t[4]} for t in table))
    return (d, {"items": items, "tokens": f"{note(book, '15', 'walk_whole'):.0f}"},
            (("machine", "ridge", "reads", "writes", "ratio"), table))
