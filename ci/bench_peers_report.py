"""What ci/bench --peers measured, as tables and as one page with plots."""

import html
import math
import statistics

from bench_report import STYLE, bar_chart, heading, number, quotient, ratio

PEERS = {"cairn": ("Cairn", "#1f6f8b"), "torch": ("PyTorch", "#c0392b"),
         "rmm_pool": ("RMM pool", "#4f9d4f"), "rmm_arena": ("RMM arena", "#9b7fc4"),
         "cub": ("CUB", "#d1793a")}
FIFTH = 0.2
MIB = 2**20
# Calls of the driver, as they are added up; `context` and `other` only ask or set what is current.
KINDS = {"memory": ("malloc", "free"),
         "events": ("event_create", "event_record", "event_query", "event_destroy"),
         "waits": ("wait",), "other": ("context", "other")}


def ns_of(result, device, workload, peer):
    return result["time"][device].get(workload, {}).get(peer, {}).get("ns")


def over_torch(result, device):
    """{workload: Cairn's time over PyTorch's}"""
    ratios = {workload: quotient(ns_of(result, device, workload, "cairn"),
                                 ns_of(result, device, workload, "torch"))
              for workload in result["time"][device]}
    return {workload: value for workload, value in ratios.items() if value is not None}


def calls_of(row, kind):
    if "calls" not in row:
        return None
    return sum(row["calls"][call] for call in KINDS[kind])


def over_live(row, figure):
    value = row.get(figure)
    return None if value is None else value / row["peak_live_bytes"]


def compared(result):
    """(settings, workload, Cairn's peak, PyTorch's), each without end where memory ran out."""
    for text, workloads in result["settings"].items():
        for workload, peaks in workloads.items():
            cairn, torch = (math.inf if peaks[peer] is None else peaks[peer]
                            for peer in ("cairn", "torch"))
            yield text, workload, cairn, torch


def above(result):
    """Those where Cairn holds more."""
    return [one for one in compared(result) if one[2] > one[3]]


def goal_lines(result):
    for device in result["time"]:
        ratios = over_torch(result, device)
        if not ratios:
            continue
        met = sum(value <= FIFTH for value in ratios.values())
        worst = max(ratios, key=ratios.get)
        yield (f"  time of an operation, {device} device: Cairn / PyTorch is "
               f"{statistics.geometric_mean(ratios.values()):.2f} as a geometric mean, at most a "
               f"fifth in {met} of {len(ratios)} workloads; at most {ratios[worst]:.2f} ({worst})")
    every, worse = list(compared(result)), above(result)
    below = sum(cairn < torch for _, _, cairn, torch in every)
    yield (f"  peak held under the same settings, 40 GiB: Cairn above PyTorch in {len(worse)}, "
           f"below in {below} of {len(every)} ({len(result['settings'])} texts of settings)")
    for text, workload, cairn, torch in worse:
        yield (f"    above: {workload}, '{text}': {cairn / MIB:,.0f} MiB, "
               f"PyTorch {torch / MIB:,.0f} MiB")


def rows(workloads, titles, cells):
    """A table: a line for each workload, right-aligned cells; cells(workload) gives words."""
    width = max(map(len, workloads), default=0)
    lines = [cells(workload) for workload in workloads]
    widths = [max(len(title), *(len(line[i]) for line in lines)) if lines else len(title)
              for i, title in enumerate(titles)]
    yield "  " + " " * width + "".join(f"  {title:>{one}}" for title, one in zip(titles, widths))
    for workload, line in zip(workloads, lines):
        yield f"  {workload:<{width}}" + "".join(f"  {cell:>{one}}"
                                                for cell, one in zip(line, widths))


def names():
    return [name for name, _ in PEERS.values()]


def time_lines(result, device):
    found = result["time"][device]

    def cells(workload):
        figures = [found[workload].get(peer, {}) for peer in PEERS]
        value = quotient(figures[0].get("ns"), figures[1].get("ns"))
        spread = max((one.get("spread", 0.0) for one in figures), default=0.0)
        return [*(number(one.get("ns")) for one in figures), ratio(value), f"{spread:.0%}"]

    return rows(list(found), [*names(), "Cairn/PyTorch", "spread"], cells)


def call_lines(result, kind):
    found = result["calls"]

    def cells(workload):
        counts = [calls_of(found[workload].get(peer, {}), kind) for peer in PEERS]
        return ["-" if count is None else f"{count:,}" for count in counts]

    return rows(list(found), names(), cells)


def memory_lines(result, measure, figure):
    found = result[measure]

    def cells(workload):
        live = next(iter(found[workload].values()))["peak_live_bytes"]
        shown = [over_live(found[workload].get(peer, {}), figure) for peer in PEERS]
        if measure == "held":
            shown[list(PEERS).index("rmm_arena")] = None
        return [f"{live / MIB:,.1f}", *map(ratio, shown)]

    return rows(list(found), ["peak live MiB", *names()], cells)


def failures(result):
    groups = [(f"time, {device} device", found) for device, found in result["time"].items()]
    groups += [(measure, result[measure]) for measure in ("calls", "held", "fits")]
    for title, found in groups:
        for workload, peers in found.items():
            for peer, row in peers.items():
                if "failure" in row:
                    yield f"  {title}: {workload}, {PEERS[peer][0]}: {row['failure']}"


def table(result):
    lines = [*heading(result), "", "Goals", *goal_lines(result), ""]
    lines += ["ns of an operation on the null device: the allocator alone",
              *time_lines(result, "null"), "",
              "ns of an operation on the simulated device, whose own cost is in it",
              *time_lines(result, "simulated"), ""]
    for kind, calls in KINDS.items():
        lines += [f"Calls of the driver: {kind} ({', '.join(calls)})", *call_lines(result, kind),
                  ""]
    lines += ["Peak held / peak live. RMM's arena takes all of the device at the beginning.",
              *memory_lines(result, "held", "peak_held_bytes"), "",
              "Least memory of the device that the workload gets by with / peak live",
              *memory_lines(result, "fits", "least_memory_bytes"), ""]
    failed = list(failures(result))
    if failed:
        lines += ["What failed ('-' above)", *failed, ""]
    return "\n".join(lines)


def groups(found, figure):
    return [(workload, [(name, colour, figure(peers.get(peer, {})))
                        for peer, (name, colour) in PEERS.items()])
            for workload, peers in found.items()]


def plots(result):
    for device, words in (("null", "the null device: the allocator alone"),
                          ("simulated", "the simulated device")):
        yield f"ns of an operation on {words}", bar_chart(
            groups(result["time"][device], lambda row: row.get("ns")),
            "ns; shorter is faster", most=2_000)
    for kind in ("memory", "events"):
        yield f"Calls of the driver in 1,000 operations: {kind}", bar_chart(
            groups(result["calls"], lambda row, kind=kind: quotient(
                calls_of(row, kind) and 1000 * calls_of(row, kind), row.get("steps"))),
            "fewer is better", most=1_000)

    def held(row):
        return None if row.get("peer") == "rmm_arena" else over_live(row, "peak_held_bytes")

    yield "Peak held over peak live", bar_chart(groups(result["held"], held),
                                                "1 is no waste", most=6)
    yield "Least memory that the workload gets by with, over peak live", bar_chart(
        groups(result["fits"], lambda row: over_live(row, "least_memory_bytes")),
        "1 is no waste", most=4)


def page(result):
    parts = ["<!DOCTYPE html><html lang='en'><meta charset='utf-8'>"
             f"<title>Cairn and its peers</title><style>{STYLE}</style>",
             "<h1>Cairn and its peers</h1>"]
    parts += [f"<p>{html.escape(line)}</p>" for line in heading(result)]
    parts.append("<p>No GPU is in it. Medians of processes in turns. Point at a bar for its "
                 "name.</p>")
    parts += [f"<h2>{html.escape(title)}</h2>{plot}" for title, plot in plots(result) if plot]
    parts.append(f"<h2>All numbers</h2><pre>{html.escape(table(result))}</pre></html>")
    return "\n".join(parts) + "\n"
