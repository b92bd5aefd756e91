"""What bench/fragmentation found, as one picture that needs nothing else, its figures in it."""

import html
import json
import math
import re

WHO = ("cairn", "cub", "direct")
NAMES = {"cairn": "Cairn", "cub": "CUB", "direct": "cudaMalloc each"}
# The rows of the figure: what programs did, not what a generator drew.
DRAWN = re.compile(r"random-")

NAMESPACE = "http:" + "//www.w3.org/2000/svg"  # A name: nothing is fetched.
WIDTH, ROW, TOP_EDGE = 920, 25, 84
RATIO_AXIS, CALL_AXIS = (262, 530), (600, 870)  # From, to: pixels.
STYLE = """
text { font: 12.5px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 14px } .soft { fill: #57606a }
.paper { fill: #ffffff } .line { stroke: #d0d7de }
.cairn { fill: #0a6f9c } .cub { fill: #b35900 } .direct { fill: #6e7781 }
text.cairn, text.cub, text.direct { font-size: 11.5px; paint-order: stroke; stroke: #ffffff;
  stroke-width: 3px; stroke-linejoin: round }
.one { stroke: #6e7781; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .soft { fill: #9ea7b3 } .paper { fill: #0d1117 } .line { stroke: #30363d }
  .cairn { fill: #58b8e8 } .cub { fill: #f0a04b } .direct { fill: #9ea7b3 }
  text.cairn, text.cub, text.direct { stroke: #0d1117 } .one { stroke: #9ea7b3 }
}
"""


def figures(rows):
    """What is kept of the program's rows: {sequence: {who: [reserved over live, calls]}}."""
    return {row["sequence"]: {
        who: [round(row[who]["reserved_over_live"], 2),
              row[who]["malloc_calls"] + row[who]["free_calls"]]
        for who in WHO if who in row} for row in rows if not DRAWN.match(row["sequence"])}


def place(value, axis, low, high):
    return axis[0] + (value - low) / (high - low) * (axis[1] - axis[0])


def text(x, y, words, style="", anchor="start"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">'
            f"{html.escape(words)}</text>")


def upright(x, height, style="line"):
    return f'<path class="{style}" d="M{x:.1f} {TOP_EDGE - 8}V{height - 34}"/>'


def marks(y, where, words):
    """A dot for each, and beside it its value: left of the lowest, right of the others."""
    lowest = min(where, key=where.get)
    for who, x in where.items():
        yield f'<circle class="{who}" cx="{x:.1f}" cy="{y}" r="5"/>'
    for who, x in where.items():
        side = -1 if who == lowest else 1
        yield text(x + 9 * side, y + 4, words[who], who, "end" if side < 0 else "start")


def drawn(kept):
    """The picture of the figures; where they are the same it is so to the byte."""
    height = TOP_EDGE + ROW * len(kept) + 40
    ratios = [row[who][0] for row in kept.values() for who in row]
    calls = [row[who][1] for row in kept.values() for who in row]
    most_ratio = math.ceil(2 * max(ratios)) / 2
    powers = range(math.floor(math.log10(min(calls))), math.ceil(math.log10(max(calls))) + 1)

    def ratio_x(ratio):
        return place(ratio, RATIO_AXIS, 1, most_ratio)

    def call_x(count):
        return place(math.log10(count), CALL_AXIS, powers[0], powers[-1])

    parts = [f'<rect class="paper" width="{WIDTH}" height="{height}" rx="8"/>',
             text(RATIO_AXIS[0], 26, "peak reserved / peak live", "title"),
             text(CALL_AXIS[0], 26, "cudaMalloc and cudaFree calls (log)", "title")]
    for half in range(2, round(2 * most_ratio) + 1):
        parts += [upright(ratio_x(half / 2), height),
                  text(ratio_x(half / 2), height - 16, f"{half / 2:g}", "soft", "middle")]
    for power in powers:
        parts += [upright(call_x(10**power), height),
                  text(call_x(10**power), height - 16, f"{10**power:,}", "soft", "middle")]
    # A call for each request holds what is live, and no more.
    parts.append(upright(RATIO_AXIS[0], height, "one"))
    for number, (name, row) in enumerate(kept.items()):
        y = TOP_EDGE + 12 + ROW * number
        ratio_at = {who: ratio_x(value[0]) for who, value in row.items() if who != "direct"}
        call_at = {who: call_x(value[1]) for who, value in row.items()}
        if number == 0:
            parts.append(text(RATIO_AXIS[0], y - 30, NAMES["direct"], "direct", "middle"))
            parts += [text(at[who], y - 30, NAMES[who], who, "middle")
                      for at in (ratio_at, call_at) for who in at]
        parts.append(text(16, y + 4, name))
        parts += marks(y, ratio_at, {who: f"{value[0]:.2f}" for who, value in row.items()})
        parts += marks(y, call_at, {who: f"{value[1]:,}" for who, value in row.items()})
    return (f'<svg xmlns="{NAMESPACE}" viewBox="0 0 {WIDTH} {height}" role="img">'
            f"<title>Memory held and driver calls, by sequence and allocator</title>\n"
            f"<metadata>{json.dumps(kept)}</metadata><style>{STYLE}</style>\n"
            + "\n".join(parts) + "\n</svg>\n")


def kept_in(picture):
    return json.loads(re.search("<metadata>(.*)</metadata>", picture)[1])


def readme_rows(kept, own):
    """Lines of the table in README.md: one for each sequence of `own`, one for each other group."""
    groups = {name: [name] for name in own}
    others = [name for name in kept if name not in own]
    lifetimes = [name for name in others if name.startswith(("packing-", "lifetimes-"))]
    groups["recorded on GPUs"] = [name for name in others if name not in lifetimes]
    groups["lifetimes of tensors"] = lifetimes
    for group, names in groups.items():
        rows = [kept[name] for name in names]
        if not rows or any(len(row) < len(WHO) for row in rows):
            continue
        ratios = [span([row[who][0] for row in rows]) for who in WHO[:2]]
        if len(rows) == 1 and rows[0]["cub"][0] < rows[0]["cairn"][0]:
            ratios[1] = f"**{ratios[1]}**"
        calls = [f"{sum(row[who][1] for row in rows):,}" for who in WHO]
        title = group if len(rows) == 1 else f"{len(rows)} {group}"
        yield f"| {title} | {', '.join(ratios)} | {', '.join(calls)} |"


def span(ratios):
    low, high = (f"{ratio:.2f}" for ratio in (min(ratios), max(ratios)))
    return low if low == high else f"{low} to {high}"


def faults(rows, picture, readme, own):
    """What the kept picture and the README say that the program's rows do not."""
    kept = kept_in(picture)
    if drawn(kept) != picture:
        yield "the picture is not the one of the figures in it"
    for name, row in figures(rows).items():
        for who, found in row.items():
            said = kept.get(name, {}).get(who)
            if said != found:
                yield f"{name}, {who}: the picture says {said}, found {found}"
    for line in readme_rows(kept, own):
        if line not in readme.splitlines():
            yield f"README.md lacks this row: {line}"
