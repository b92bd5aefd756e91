"""What ci/bench measured, as tables for people and as one page with plots."""

import html
import math
import re

COLOURS = {"cairn": "#1f6f8b", "cub": "#d1793a", "direct": "#8c8c8c"}
NAMES = {"cairn": "Cairn", "cub": "CUB's CachingDeviceAllocator", "direct": "a driver call each"}
FAMILIES = (("hit/", "Hits: a free and an allocation that the cache serves, by live blocks"),
            ("floor/", "The floor of a hit: a lock taken twice, a look-up by address, one by size"),
            ("block/", "One operation"),
            ("threads/", "Host threads: wall clock of a pair, all threads together"),
            ("xla/", "XLA's workloads: 1 KiB blocks"),
            ("rmm/", "RMM's random allocations: one step, from an empty allocator"),
            ("trace/", "Recorded traces: one step, from an empty allocator"))


def in_order(cases):
    """By name, with numbers in it by value."""
    return sorted(cases, key=lambda case: [int(part) if part.isdigit() else part
                                           for part in re.split(r"(\d+)", case)])


def ns_of(result, case, contender="cairn"):
    return result["cases"].get(case, {}).get(contender, {}).get("ns")


def number(ns):
    if ns is None:
        return "-"
    return f"{ns:,.0f}" if ns >= 100 else f"{ns:.1f}"


def quotient(above, below):
    return None if above is None or not below else above / below


def ratio(value):
    return "-" if value is None else f"{value:.2f}"


def heading(result):
    machine = result["machine"]
    yield (f"Machine: {machine['processor']}, {machine['cores']} cores, {machine['system']} "
           f"{machine['release']}; load {result['load_before']} before, {result['load_after']} "
           f"after. {result['date']}.")
    yield f"Commit: {result['commit']}. Compiler: {result['compiler']}. Invariants off."
    if result["quick"]:
        yield "Quick: few repetitions of short runs. Read the ratios, and those with care."


def goals(result):
    """(words, value, limit or None, whether the limit is for at most or at least)."""
    pairs = [(f"hit/{kind}_victim/{blocks}", limit)
             for kind, blocks, limit in (("same", 1000, 1 / 3), ("same", 1_000_000, 1 / 3),
                                         ("random", 1_000_000, 1 / 2))]
    for case, limit in pairs:
        value = quotient(ns_of(result, case), ns_of(result, case, "cub"))
        if value is not None:
            yield f"{case}: Cairn / CUB", value, limit, "at most"
    for sharing in ("two_streams", "two_streams_and_work", "two_allocators"):
        one, two = (ns_of(result, f"threads/{threads}/{sharing}") for threads in (1, 2))
        value = quotient(one, two)
        if value is not None:
            limit = 1.7 if sharing != "two_allocators" else None
            yield f"two threads over one, {sharing}: Cairn", value, limit, "at least"


def goal_lines(result):
    for words, value, limit, kind in goals(result):
        wanted = "" if limit is None else f"   (goal: {kind} {limit:.2f})"
        yield f"  {words:<52} {value:>6.2f}{wanted}"


def family_lines(result, prefix):
    cases = in_order(case for case in result["cases"] if case.startswith(prefix))
    width = max(len(case) for case in cases)
    yield f"  {'':<{width}}  {'cairn ns':>9}  {'cub ns':>9}  {'cairn/cub':>9}  {'spread':>7}"
    for case in cases:
        figures = result["cases"][case]
        cairn, cub = ns_of(result, case), ns_of(result, case, "cub")
        spread = max(one.get("spread", 0.0) for one in figures.values())
        yield (f"  {case:<{width}}  {number(cairn):>9}  {number(cub):>9}  "
               f"{ratio(quotient(cairn, cub)):>9}  {spread:>6.0%}")


def level_lines(result):
    levels = result["levels"]
    yield "  " + f"{'':<28}" + "".join(f"{level:>12}" for level in levels)
    for case in in_order(levels["off"]):
        yield f"  {case:<28}" + "".join(f"{number(levels[level].get(case)):>12}"
                                        for level in levels)


def held_lines(result):
    rows = result["fragmentation"]
    width = max(len(row["sequence"]) for row in rows)
    yield (f"  {'':<{width}}  {'peak live':>9}  {'peak reserved / peak live':^24}  "
           f"{'cudaMalloc + cudaFree':^26}  {'event calls':^17}")
    yield (f"  {'':<{width}}  {'MiB':>9}  {'cairn':>8}{'cub':>8}{'direct':>8}  "
           f"{'cairn':>8}{'cub':>8}{'direct':>10}  {'cairn':>8}{'cub':>9}")
    for row in rows:
        held = {who: row.get(who) for who in COLOURS}
        over = [ratio(one and one["reserved_over_live"]) for one in held.values()]
        calls = [str(one["malloc_calls"] + one["free_calls"]) if one else "-"
                 for one in held.values()]
        events = [str(one["event_calls"]) if one else "-" for one in list(held.values())[:2]]
        yield (f"  {row['sequence']:<{width}}  {row['peak_live_bytes'] / 2**20:>9,.1f}  "
               f"{over[0]:>8}{over[1]:>8}{over[2]:>8}  {calls[0]:>8}{calls[1]:>8}{calls[2]:>10}  "
               f"{events[0]:>8}{events[1]:>9}")


def table(result):
    lines = [*heading(result), ""]
    lines += ["Goals", *goal_lines(result), ""]
    for prefix, title in FAMILIES:
        if any(case.startswith(prefix) for case in result["cases"]):
            lines += [title, *family_lines(result, prefix), ""]
    if "levels" in result:
        lines += ["What the invariants cost: ns of a hit, by level", *level_lines(result), ""]
    lines += ["Memory held and driver calls, from an empty allocator (nothing timed)",
              *held_lines(result), ""]
    return "\n".join(lines)


# ---- plots ----

def text(x, y, words, anchor="start", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>'
            f"{html.escape(str(words))}</text>")


def svg(width, height, parts):
    return (f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img">{"".join(parts)}</svg>')


def legend(entries, x, y):
    parts = []
    for name, colour, dash in entries:
        parts.append(f'<line x1="{x}" y1="{y - 4}" x2="{x + 22}" y2="{y - 4}" stroke="{colour}" '
                     f'stroke-width="3" stroke-dasharray="{dash}"/>')
        parts.append(text(x + 28, y, name))
        x += 44 + 6.5 * len(name)
    return parts


def line_chart(lines, x_name, y_name):
    """lines: [(name, colour, dash, [(x, y)])]; both axes logarithmic."""
    left, top, width, height = 60, 48, 640, 300
    points = [point for line in lines for point in line[3]]
    if not points:
        return ""
    low = [math.floor(math.log10(min(point[axis] for point in points))) for axis in (0, 1)]
    high = [max(math.ceil(math.log10(max(point[axis] for point in points))), low[axis] + 1)
            for axis in (0, 1)]

    def place(point):
        part = [(math.log10(point[axis]) - low[axis]) / (high[axis] - low[axis])
                for axis in (0, 1)]
        return left + part[0] * width, top + (1 - part[1]) * height

    parts = legend([line[:3] for line in lines], left, 14)
    for power in range(low[1], high[1] + 1):
        y = place((10**low[0], 10**power))[1]
        parts.append(f'<line class="grid" x1="{left}" y1="{y}" x2="{left + width}" y2="{y}"/>')
        parts.append(text(left - 6, y + 4, f"{10**power:,}", "end"))
    for power in range(low[0], high[0] + 1):
        x = place((10**power, 10**low[1]))[0]
        parts.append(text(x, top + height + 18, f"{10**power:,}", "middle"))
    parts.append(text(left + width / 2, top + height + 36, x_name, "middle"))
    parts.append(text(left, top - 6, y_name))
    for name, colour, dash, line in lines:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, line))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5" '
                     f'stroke-dasharray="{dash}"><title>{html.escape(name)}</title></polyline>')
        for point in line:
            x, y = place(point)
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"><title>'
                         f"{html.escape(name)}: {number(point[1])} at {point[0]:,}"
                         "</title></circle>")
    return svg(left + width + 60, top + height + 44, parts)


def bar_chart(groups, unit, most=None):
    """groups: [(label, [(name, colour, value)])]; bars from 0, cut off where they pass `most`."""
    values = [value for _, bars in groups for _, _, value in bars if value is not None]
    if not values:
        return ""
    largest = min(max(values), most or math.inf)
    left, width, thick, y = 260, 440, 12, 24
    seen, parts = {}, []
    for label, bars in groups:
        shown = [bar for bar in bars if bar[2] is not None]
        parts.append(text(left - 8, y + thick * len(shown) / 2 + 4, label, "end"))
        for name, colour, value in shown:
            seen[name] = colour
            length = min(value, largest) / largest * width
            parts.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{thick - 2}" '
                         f'fill="{colour}"><title>{html.escape(name)}</title></rect>')
            past = " (cut off)" if value > largest else ""
            words = f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
            parts.append(text(left + length + 5, y + thick - 3, words + past,
                              extra='class="small"'))
            y += thick
        y += 9
    parts = legend([(name, colour, "") for name, colour in seen.items()], left, 13) + parts
    parts.append(text(left, y + 10, unit, extra='class="small"'))
    return svg(left + width + 130, y + 18, parts)


def hit_plot(result):
    lines = []
    for kind, dash in (("same", ""), ("random", "6 4")):
        for who in ("cairn", "cub"):
            points = []
            for case, figures in result["cases"].items():
                if case.startswith(f"hit/{kind}_victim/") and "ns" in figures.get(who, {}):
                    points.append((int(case.rsplit("/", 1)[1]), figures[who]["ns"]))
            if points:
                lines.append((f"{who}, {kind} victim", COLOURS[who], dash, sorted(points)))
    return line_chart(lines, "live blocks", "ns for a free and an allocation")


def time_groups(result, prefixes):
    return [(case, [(NAMES[who], COLOURS[who], ns_of(result, case, who))
                    for who in ("cairn", "cub")])
            for case in in_order(result["cases"]) if case.startswith(prefixes)]


def held_groups(result, figure):
    return [(row["sequence"], [(NAMES[who], COLOURS[who], figure(row[who]))
                               for who in COLOURS if who in row])
            for row in result["fragmentation"]]


def plots(result):
    yield "A hit, by the number of live blocks", hit_plot(result)
    for prefix, title in FAMILIES[1:]:
        yield title, bar_chart(time_groups(result, prefix), "ns; shorter is faster")
    if "levels" in result:
        groups = [(f"{case}, {level}", [("Cairn", COLOURS["cairn"], math.log10(max(ns, 1)))])
                  for case in in_order(result["levels"]["off"])
                  for level, ns in ((one, result["levels"][one].get(case)) for one in
                                    result["levels"]) if ns]
        yield "What the invariants cost, by level", bar_chart(
            groups, "decimal logarithm of ns of a hit: one more is ten times as long")
    yield "Peak reserved over peak live", bar_chart(
        held_groups(result, lambda held: held["reserved_over_live"]), "1 is no waste", most=6)
    yield "cudaMalloc and cudaFree", bar_chart(
        held_groups(result, lambda held: math.log10(
            max(held["malloc_calls"] + held["free_calls"], 1))),
        "decimal logarithm of the number of calls")


STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;
color:#222;background:#fff}h2{margin-top:2em;font-size:1.15em}svg{max-width:100%;height:auto}
svg text{font:12px system-ui,sans-serif;fill:#333}svg text.small{font-size:10.5px}
.grid{stroke:#ddd}pre{overflow-x:auto;background:#f6f6f6;padding:1em;font-size:12px}"""


def page(result):
    parts = ["<!DOCTYPE html><html lang='en'><meta charset='utf-8'>"
             f"<title>Cairn: benchmarks</title><style>{STYLE}</style>",
             "<h1>Cairn: benchmarks</h1>"]
    parts += [f"<p>{html.escape(line)}</p>" for line in heading(result)]
    parts.append("<p>No GPU is in these times: each allocator's driver is a stub that does "
                 "nothing. Medians of repetitions in turns in one process. Point at a bar "
                 "for its name.</p>")
    for title, plot in plots(result):
        if plot:
            parts.append(f"<h2>{html.escape(title)}</h2>{plot}")
    parts.append(f"<h2>All numbers</h2><pre>{html.escape(table(result))}</pre></html>")
    return "\n".join(parts) + "\n"
