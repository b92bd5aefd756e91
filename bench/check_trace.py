#!/usr/bin/env python3
"""Checks traces: grammar, names, totals of the header. Needs nothing but Python.

usage: bench/check_trace.py TRACE.program.gz...
"""

import gzip
import re
import sys
from collections import Counter

NAME = "[A-Za-z_][A-Za-z0-9_]*"
POSITIVE = "[1-9][0-9]*"
TOUCH = f"{NAME}(?::r)?"
FORMS = {
    "alloc": re.compile(f"alloc (?P<name>{NAME}) (?P<size>{POSITIVE}) (?P<streams>{NAME})"),
    "free": re.compile(f"free (?P<name>{NAME})"),
    "use": re.compile(f"use (?P<name>{NAME}) (?P<streams>{NAME})"),
    "order": re.compile(f"order (?P<streams>{NAME} {NAME})"),
    "launch": re.compile(
        f"launch (?P<streams>{NAME}) (?P<touches>{TOUCH}(?:,{TOUCH})*) {POSITIVE}"
    ),
    "advance": re.compile(f"advance {POSITIVE}"),
    "sync": re.compile(f"sync (?P<streams>{NAME})"),
}


class Trace:
    """What the statements have done so far."""

    def __init__(self):
        self.live = {}  # Name -> bytes
        self.sizes, self.streams, self.counts = set(), set(), Counter()
        self.live_bytes = self.peak_bytes = 0

    def add(self, line):
        word = line.split(" ", 1)[0]
        form = FORMS[word].fullmatch(line) if word in FORMS else None
        assert form, f"{line!r} is no statement of a trace"
        self.counts[word] += 1
        parts = form.groupdict()
        self.streams.update(parts.get("streams", "").split())
        if word == "alloc":
            self.alloc(parts["name"], int(parts["size"]))
            return
        touches = parts.get("touches") or parts.get("name") or ""
        names = [touch.removesuffix(":r") for touch in touches.split(",") if touch]
        assert len(set(names)) == len(names), f"{line!r} names something twice"
        for name in names:
            assert name in self.live, f"{name} is not live"
        if word == "free":
            self.live_bytes -= self.live.pop(parts["name"])

    def alloc(self, name, size_bytes):
        assert name not in self.live, f"{name} is live already"
        self.live[name] = size_bytes
        self.sizes.add(size_bytes)
        self.live_bytes += size_bytes
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)


def check_header(text, trace):
    allocs, frees = trace.counts["alloc"], trace.counts["free"]
    others = [f"{n} {word}" for word, n in sorted(trace.counts.items())
              if word not in ("alloc", "free")]
    assert f"Requests: {allocs + frees} ({allocs} allocs, {frees} frees)\n" in text
    assert not others or f"Besides: {', '.join(others)}\n" in text
    assert f"Peak of live bytes: {trace.peak_bytes} " in text
    assert f"Live bytes at the end: {trace.live_bytes}\n" in text
    if not others:
        assert trace.streams == {"s0"}, trace.streams


def check(path):
    with open(path, "rb") as file:
        packed = file.read()
    assert packed[3] & 8 == 0, "the gzip header has a file name"
    assert packed[4:8] == bytes(4), "the gzip header has a time"
    lines = gzip.decompress(packed).decode("ascii").splitlines()
    header = [line for line in lines if line.startswith("#")]
    assert lines[: len(header)] == header, "a comment after the header"
    assert lines[len(header)] == "gpu 0 memory=80GiB"
    trace = Trace()
    for number, line in enumerate(lines[len(header) + 1 :], len(header) + 2):
        try:
            trace.add(line)
        except AssertionError as error:
            raise AssertionError(f"{path}:{number}: {error}") from None
    check_header("\n".join(header) + "\n", trace)
    counts = ", ".join(f"{count} {word}" for word, count in trace.counts.items())
    print(
        f"{path}: correct; {counts}; streams {' '.join(sorted(trace.streams))}; "
        f"{len(trace.sizes)} sizes from {min(trace.sizes)} to {max(trace.sizes)} bytes, peak "
        f"{trace.peak_bytes / 2**30:.2f} GiB, at the end {len(trace.live)} live of "
        f"{trace.live_bytes / 2**30:.2f} GiB, file {len(packed)} bytes"
    )


if len(sys.argv) == 1 or sys.argv[1] in ("-h", "--help"):
    print(__doc__)
    sys.exit(0 if len(sys.argv) > 1 else 2)
for trace in sys.argv[1:]:
    check(trace)
