#!/usr/bin/env python3
"""Each planted race is found by the exploration of schedules, in a short schedule.

usage: planted.py [--json FILE] PROGRAM...

A PROGRAM is a build/CONFIG/bin/schedules_RACE. Each explores the pairs of its race up to its first
finding, which is made short and printed. Exits 0 if each finds something in a schedule of at most
12 steps, 1 if one does not, 2 for wrong usage.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

MOST_STEPS = 12
# What is run at the same time, and from which state.
PAIRS = {
    "event_after_unlock": ("free_used_once+hit_and_work", "roomy"),
    "table_outside_lock": ("free_checked+use", "roomy"),
    "statistic_without_lock": ("statistics+free", "roomy"),
}
SAID = re.compile(r"schedule of (\d+) steps, (\d+) preemptions")


def explore(program):
    race = Path(program).name.removeprefix("schedules_")
    pair, state = PAIRS[race]
    begin = time.monotonic()
    run = subprocess.run([program, pair, f"--state={state}"], text=True, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    found = SAID.search(run.stderr)
    schedules = re.search(r"(\d+) schedules", run.stdout)
    print(run.stderr, end="")
    return {"race": race, "operations": pair, "state": state,
            "found": run.returncode == 1 and found is not None,
            "steps": int(found[1]) if found else None,
            "preemptions": int(found[2]) if found else None,
            "schedules": int(schedules[1]) if schedules else None,
            "seconds": round(time.monotonic() - begin, 2)}


def holds(row):
    return row["found"] and row["steps"] <= MOST_STEPS


def main():
    arguments = sys.argv[1:]
    if arguments and arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0
    file = None
    if arguments[:1] == ["--json"] and len(arguments) > 1:
        file, arguments = arguments[1], arguments[2:]
    if not arguments or not all(Path(name).name.removeprefix("schedules_") in PAIRS
                                for name in arguments):
        print(f"planted.py: what is {' '.join(arguments)}?\n{__doc__}", file=sys.stderr)
        return 2
    rows = [explore(program) for program in arguments]
    for row in rows:
        words = (f"found in schedule {row['schedules']}, {row['steps']} steps with "
                 f"{row['preemptions']} preemptions" if row["found"] else "NOT FOUND")
        print(f"{row['race']:24} {row['operations']:28} {words}")
    if file:
        Path(file).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if all(holds(row) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
