#!/usr/bin/env python3
"""Compares Cairn with PyTorch's own allocator, Program by Program.

PyTorch's release wheel runs each Program on simulated CUDA. What it did is written down as
expectations (every address, failure, total and map), and `cairn run` must agree with them.

Exit codes: 0 all agree; 1 some do not; 2 wrong usage, or something is missing.
"""

import argparse
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from program_text import Unsupported, read
from random_programs import random_program

REQUIREMENTS = pathlib.Path(__file__).with_name("requirements.txt").read_text(encoding="utf-8")
TORCH = re.search(r"^torch==(\S+)", REQUIREMENTS, re.MULTILINE)[1]


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
    import ctypes
    try:
        ctypes.CDLL("libcuda.so.1").cairn_sim_launch
    except (OSError, AttributeError):
        fail("libcuda.so.1 is not the simulated one; run ci/clients")
    import wheel
    return wheel


def in_child(work, out: pathlib.Path) -> str:
    """Does the work in a process of its own. Gives "" or what went wrong."""
    problem = out.with_suffix(".problem")
    problem.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            out.write_text(work())
            code = 0
        except Unsupported as refusal:
            problem.write_text(f"refused: {refusal}")
        except BaseException as error:  # pylint: disable=broad-except
            problem.write_text(f"{type(error).__name__}: {error}")
        os._exit(code)
    _, status = os.waitpid(child, 0)
    if status == 0:
        return ""
    if problem.exists():
        return problem.read_text()
    return f"PyTorch ended with status {status}"


def waited(args, path: pathlib.Path, line: int) -> bool:
    """Whether Cairn had waited for a stream by that line."""
    told = path.with_suffix(".waited")
    said = path.read_text().splitlines()[:line - 1]
    told.write_text("\n".join([*said, "expect calls(stream_sync) == 0"]) + "\n")
    command = [str(args.cairn), "run", "--json", str(told)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(run.stdout)["verdict"] == "violated"


def retried(path: pathlib.Path, line: int) -> bool:
    """Whether PyTorch tried again, after it had released and waited, in the statement there."""
    lines = path.read_text().splitlines()
    counts = [[int(said.split()[-1]) for said in part if said.startswith("expect retries@")]
              for part in (lines[:line], lines[line:])]
    return bool(counts[0] and counts[1]) and counts[1][0] > counts[0][-1]


def explain(args, wheel, verdict: dict, texts: dict[str, str]) -> str:
    """Which deviation of src/heap/README.md it is, "" where none is shown to be.

    V5: Cairn waited for a stream, which let time go by. V3: in that very statement PyTorch waited
    for events and did not look again. And without the kernels, which are what takes time, there
    is no difference.
    """
    path = pathlib.Path(verdict["file"])
    if "line" not in verdict:
        return ""
    deviation = "V5" if waited(args, path, verdict["line"]) else \
        "V3" if retried(path, verdict["line"]) else ""
    if not deviation:
        return ""
    idle = "\n".join(line for line in texts[path.stem].splitlines()
                     if not line.startswith("launch ")) + "\n"
    out = args.out / f"{path.stem}-idle.program"
    if in_child(lambda: wheel.Wheel(read(idle), args.map_every, args.tie).run(), out):
        return ""
    return deviation if through_cairn(args, [out])[0]["verdict"] == "holds" else ""


def programs(args) -> list[tuple[str, str]]:
    found = []
    for path in args.programs:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        found.append((path.name.split(".")[0], data.decode()))
    for seed in range(args.seed, args.seed + args.random):
        found.append((f"random-{seed}", random_program(seed)))
    return found


def through_pytorch(args, wheel,
                    texts: dict[str, str]) -> tuple[list[pathlib.Path], dict[str, str]]:
    """The Programs with what PyTorch did in them, and those that it did not do."""
    done, left_out = [], {}
    for name, text in texts.items():
        out = args.out / f"{name}.program"
        map_every = max(args.map_every, text.count("\n") // 200)
        tie = args.tie

        def work(text=text, map_every=map_every):
            return wheel.Wheel(read(text), map_every, tie).run()
        problem = in_child(work, out)
        if problem:
            left_out[name] = problem
        else:
            done.append(out)
    return done, left_out


def through_cairn(args, files: list[pathlib.Path]) -> list[dict]:
    if not files:
        return []
    command = [str(args.cairn), "run", "--json", *map(str, files)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    verdicts = [json.loads(line) for line in run.stdout.splitlines()]
    if len(verdicts) != len(files):
        fail(f"cairn run gave {len(verdicts)} verdicts for {len(files)} Programs: "
                 f"{run.stderr[-2000:]}")
    return verdicts


def report(verdicts: list[dict], left_out: dict[str, str]) -> int:
    differing = [verdict for verdict in verdicts if verdict["verdict"] != "holds"]
    explained = [verdict["deviation"] for verdict in differing if verdict["deviation"]]
    for verdict in differing:
        where = f"{verdict['file']}:{verdict.get('line', '?')}"
        said = verdict.get("why") or f"{verdict.get('statement')}: PyTorch " \
            f"{verdict.get('expected')}, Cairn {verdict.get('found')}"
        print(f"{where}: {verdict['deviation'] or verdict['verdict']}: {said}")
    for name, problem in left_out.items():
        print(f"{name}: not compared: {problem}")
    operations = sum(verdict.get("operations", 0) for verdict in verdicts)
    print(f"{len(verdicts)} Programs compared with PyTorch {TORCH}, {operations} operations: "
          f"{len(verdicts) - len(differing)} agree, {explained.count('V5')} differ by V5, "
          f"{explained.count('V3')} by V3, "
          f"{len(differing) - len(explained)} differ unexplained; {len(left_out)} not compared")
    return 1 if len(differing) > len(explained) or any(not problem.startswith("refused")
                                 for problem in left_out.values()) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", type=pathlib.Path, help="Programs, also gzipped")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="and N random ones")
    parser.add_argument("--seed", type=int, default=1, help="the first one's seed (1)")
    parser.add_argument("--map-every", type=int, default=10, metavar="N",
                        help="compare the map after each N operations (10)")
    parser.add_argument("--tie", choices=["segment", "address"], default="address",
                        help="how the wheel chooses among equal blocks (address)")
    parser.add_argument("--cairn", type=pathlib.Path, required=True, help="the cairn tool")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for what is run")
    args = parser.parse_args()
    if not args.programs and not args.random:
        parser.error("no Program is named, and no --random")
    args.out.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    wheel = import_wheel()
    texts = dict(programs(args))
    done, left_out = through_pytorch(args, wheel, texts)
    verdicts = through_cairn(args, done)
    for verdict in verdicts:
        differs = verdict["verdict"] != "holds"
        verdict["deviation"] = explain(args, wheel, verdict, texts) if differs else ""
    code = report(verdicts, left_out)
    print(f"in {time.monotonic() - start:.0f} s; the Programs lie in {args.out}")
    return code


if __name__ == "__main__":
    sys.exit(main())
