#!/usr/bin/env python3
"""Checks traces: grammar, names, totals of the header. Needs nothing but Python.

usage: bench/check_trace.py TRACE.program.gz...
"""

import gzip
import re
import sys

ALLOC = re.compile(r"alloc ([A-Za-z_][A-Za-z0-9_]*) ([1-9][0-9]*) s0")
FREE = re.compile(r"free ([A-Za-z_][A-Za-z0-9_]*)")


def check(path):
    with open(path, "rb") as file:
        packed = file.read()
    assert packed[3] & 8 == 0, "the gzip header has a file name"
    assert packed[4:8] == bytes(4), "the gzip header has a time"
    lines = gzip.decompress(packed).decode("ascii").splitlines()
    header = [line for line in lines if line.startswith("#")]
    assert lines[: len(header)] == header, "a comment after the header"
    assert lines[len(header)] == "gpu 0 memory=80GiB"
    live, sizes, live_bytes, peak_bytes, allocs = {}, set(), 0, 0, 0
    for number, line in enumerate(lines[len(header) + 1 :], len(header) + 2):
        if match := ALLOC.fullmatch(line):
            name, size_bytes = match[1], int(match[2])
            assert name not in live, f"line {number}: {name} is live already"
            live[name] = size_bytes
            live_bytes += size_bytes
            allocs += 1
            sizes.add(size_bytes)
        elif match := FREE.fullmatch(line):
            assert match[1] in live, f"line {number}: {match[1]} is not live"
            live_bytes -= live.pop(match[1])
        else:
            raise AssertionError(f"line {number}: {line!r}")
        peak_bytes = max(peak_bytes, live_bytes)
    requests = len(lines) - len(header) - 1
    text = "\n".join(header)
    assert f"Requests: {requests} ({allocs} allocs, {requests - allocs} frees)" in text
    assert f"Peak of live bytes: {peak_bytes} " in text
    assert f"Live bytes at the end: {live_bytes}" in text
    print(
        f"{path}: correct; {requests} requests, {len(sizes)} sizes from {min(sizes)} to "
        f"{max(sizes)} bytes, peak {peak_bytes / 2**30:.2f} GiB, at the end {len(live)} live "
        f"of {live_bytes / 2**30:.2f} GiB, file {len(packed)} bytes"
    )


if len(sys.argv) == 1 or sys.argv[1] in ("-h", "--help"):
    print(__doc__)
    sys.exit(0 if len(sys.argv) > 1 else 2)
for trace in sys.argv[1:]:
    check(trace)
