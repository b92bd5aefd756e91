#!/usr/bin/env python3
"""Compares Cairn with PyTorch's own allocator, Program by Program.

PyTorch's release wheel runs each Program on simulated CUDA. What it did is written down as
expectations (every address, failure, total and map), and `cairn run`, with pytorch_defects:True,
must agree with them; so must the driver calls of both at each statement, and all statistics at the
end. Of recordings each address must be the recorded one as well; the memory that they start from is
rebuilt by a prelude.

Exit codes: 0 all agree; 1 some do not; 2 wrong usage, or something is missing.
"""

import argparse
import gzip
import pathlib
import re
import subprocess
import sys
import time

import census
from comparison import Comparison, Difference, Side
from prelude import without_segments
from program_text import Unsupported
from random_programs import random_program

REQUIREMENTS = pathlib.Path(__file__).with_name("requirements.txt").read_text(encoding="utf-8")
TORCH = re.search(r"^torch==(\S+)", REQUIREMENTS, re.MULTILINE)[1]
MANY = 500  # So many random Programs are to have each kind of the census.


def fail(words):
    print("oracle:", words, file=sys.stderr)
    sys.exit(2)


def import_wheel():
    """The module that needs torch, once it is known that torch is the right one."""
    try:
        import torch
    except ImportError as error:
        fail(f"torch cannot be loaded ({error}); run ci/clients")
    if torch.__version__.split("+")[0] != TORCH:
        fail(f"torch is {torch.__version__}, and {TORCH} is compared with")
    from driver_calls import simulated_cuda
    if not simulated_cuda.is_there():
        fail("libcuda.so.1 is not the simulated one of this version; run ci/clients")
    import wheel
    return wheel


def name_of(path: pathlib.Path) -> str:
    return re.sub(r"\.(program|events|segments)(\.(csv|json))?(\.gz)?$|\.csv\.gz$", "", path.name)


def text_of(args, path: pathlib.Path) -> str:
    """The Program in the file, or the one that `cairn import` makes of a recording."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if re.search(r"\.program(\.gz)?$", path.name):
        return data.decode()
    run = subprocess.run([str(args.cairn), "import", str(path)], capture_output=True, text=True,
                         check=False)
    if run.returncode != 0:
        fail(f"{path}: {run.stderr.strip()}")
    return run.stdout


def programs(args) -> dict[str, str]:
    found = {name_of(path): text_of(args, path) for path in args.programs}
    for seed in range(args.seed, args.seed + args.random):
        found[f"random-{seed}"] = random_program(seed)
    return found


def prepared(name: str, text: str, comparison: Comparison) -> Side:
    try:
        return comparison.through_pytorch(name, without_segments(text))
    except Unsupported as refusal:
        return Side(name, text, pathlib.Path(), f"refused: {refusal}")


class Report:
    """What came of all Programs."""

    def __init__(self):
        self.agree = 0
        self.operations = 0
        self.calls = 0
        self.recorded = 0
        self.ties = 0
        self.differ = 0
        self.refused = 0
        self.broken = 0
        self.found: dict[str, int] = {}
        self.programs: dict[str, int] = {}

    def take(self, side: Side, verdict: dict, differences: list[Difference]) -> None:
        self.operations += verdict.get("operations", 0)
        self.calls += len(side.told["calls"])
        self.recorded += side.told["recorded"]
        for kind, count in side.told["census"].items():
            self.found[kind] = self.found.get(kind, 0) + count
            self.programs[kind] = self.programs.get(kind, 0) + 1
        for each in differences:
            print(f"{side.path}:{each.line}: {'tie' if each.is_tie else 'differ'}: {each.words}")
        if not differences:
            self.agree += 1
        elif all(each.is_tie for each in differences):
            self.ties += 1
        else:
            self.differ += 1

    def leave_out(self, side: Side) -> None:
        print(f"{side.name}: not compared: {side.problem}")
        if side.problem.startswith("refused"):
            self.refused += 1
        else:
            self.broken += 1

    def tell(self, demands_all: bool) -> bool:
        """Prints the sums. Gives whether all is well."""
        absent = [kind for kind in census.KINDS if not self.found.get(kind)]
        print("What they contained:")
        print(census.table(self.found, self.programs))
        if demands_all and absent:
            print(f"never occurred: {', '.join(absent)}")
        compared = self.agree + self.ties + self.differ
        print(f"{compared} Programs compared with PyTorch {TORCH}, {self.operations} operations, "
              f"{self.calls} driver calls, {self.recorded} recorded addresses: {self.agree} agree, "
              f"{self.ties} differ by the rule for ties, {self.differ} differ; "
              f"{self.refused + self.broken} not compared")
        return not (self.differ or self.broken or (demands_all and absent))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", type=pathlib.Path,
                        help="Programs, and recordings that `cairn import` reads; also gzipped")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="and N random ones")
    parser.add_argument("--seed", type=int, default=1, help="the first one's seed (1)")
    parser.add_argument("--map-every", type=int, default=10, metavar="N",
                        help="compare the map after each N operations (10)")
    parser.add_argument("--tie", choices=["segment", "address"], default="segment",
                        help="how the wheel chooses among equal blocks (segment)")
    parser.add_argument("--cairn", type=pathlib.Path, required=True, help="the cairn tool")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for what is run")
    args = parser.parse_args()
    if not args.programs and not args.random:
        parser.error("no Program is named, and no --random")
    args.out.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    comparison = Comparison(args, import_wheel())
    sides = [prepared(name, text, comparison) for name, text in programs(args).items()]
    report = Report()
    for side in sides:
        if side.problem:
            report.leave_out(side)
    compared = [side for side in sides if not side.problem]
    for side, verdict in zip(compared, comparison.through_cairn(compared)):
        report.take(side, verdict, comparison.judged(side, verdict))
    is_well = report.tell(demands_all=args.random >= MANY)
    print(f"in {time.monotonic() - start:.0f} s; the Programs lie in {args.out}")
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
