#!/usr/bin/env python3
"""Checks traces: grammar, names, totals of the header. Needs nothing but Python.

usage: bench/check_trace.py TRACE.program.gz...

Exit codes: 0 all are correct; 1 one is not; 2 wrong usage, or a file cannot be read.
"""

import gzip
import re
import sys
import zlib
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
    totals = [f"Requests: {allocs + frees} ({allocs} allocs, {frees} frees)\n",
              f"Besides: {', '.join(others)}\n" if others else "",
              f"Peak of live bytes: {trace.peak_bytes} ",
              f"Live bytes at the end: {trace.live_bytes}\n"]
    for total in totals:
        assert total in text, f"the header does not say {total.strip()!r}"
    if not others:
        assert trace.streams == {"s0"}, f"streams {trace.streams} with allocs and frees alone"


def text_of(packed):
    try:
        return gzip.decompress(packed).decode("ascii")
    except (EOFError, OSError, UnicodeDecodeError, zlib.error) as error:
        raise AssertionError(f"it cannot be unpacked: {error}") from None


def check(path):
    with open(path, "rb") as file:
        packed = file.read()
    assert packed[:2] == b"\x1f\x8b", "it is not gzipped"
    assert packed[3] & 8 == 0, "the gzip header has a file name"
    assert packed[4:8] == bytes(4), "the gzip header has a time"
    lines = text_of(packed).splitlines()
    header = [line for line in lines if line.startswith("#")]
    assert lines[: len(header)] == header, "a comment after the header"
    assert lines[len(header) :][:1] == ["gpu 0 memory=80GiB"], "no gpu after the header"
    trace = Trace()
    for number, line in enumerate(lines[len(header) + 1 :], len(header) + 2):
        try:
            trace.add(line)
        except AssertionError as error:
            raise AssertionError(f"line {number}: {error}") from None
    check_header("\n".join(header) + "\n", trace)
    counts = ", ".join(f"{count} {word}" for word, count in trace.counts.items())
    print(
        f"{path}: correct; {counts}; streams {' '.join(sorted(trace.streams))}; "
        f"{len(trace.sizes)} sizes from {min(trace.sizes)} to {max(trace.sizes)} bytes, peak "
        f"{trace.peak_bytes / 2**30:.2f} GiB, at the end {len(trace.live)} live of "
        f"{trace.live_bytes / 2**30:.2f} GiB, file {len(packed)} bytes"
    )


def main(arguments):
    if "-h" in arguments or "--help" in arguments:
        print(__doc__)
        return 0
    unknown = [argument for argument in arguments if argument.startswith("-")]
    if unknown or not arguments:
        words = f"no such option: {unknown[0]}" if unknown else "which trace?"
        print(f"check_trace.py: {words}\n{__doc__}", file=sys.stderr)
        return 2
    status = 0
    for path in arguments:
        try:
            check(path)
        except AssertionError as error:
            print(f"{path}: {error}")
            status = max(status, 1)
        except OSError as error:
            print(f"{path}: {error.strerror}", file=sys.stderr)
            status = 2
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
