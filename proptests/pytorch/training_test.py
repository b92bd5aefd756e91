#!/usr/bin/env python3
"""Ten steps of training through PyTorch's own allocator and through Cairn, beside each other.

The steps of both lie in OUT_FOLDER (see training.py). With the tool both recorded Programs are
also run in lockstep with the reference model.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(__file__).parent
OUT: pathlib.Path  # Both from the command line.
TOOL: str | None
MIB = 2**20
NAMES = ("pytorch", "cairn")


def train(name: str, out: pathlib.Path, *options: str) -> dict:
    process = subprocess.run([sys.executable, "-W", "ignore", str(FOLDER / "training.py"), name,
                              str(out), *options], capture_output=True, text=True, check=False)
    if process.returncode != 0:
        raise AssertionError(f"training through {name}: {process.stderr[-3000:]}")
    return json.loads((out / f"{name}.json").read_text(encoding="utf-8"))


def total(run: dict, name: str) -> int:
    """Of the whole run: the peak, or the count at the end."""
    return max(step[name] for step in run["steps"])


def table(runs: dict[str, dict]) -> str:
    rows = [("peak allocated MiB", lambda run: f"{total(run, 'allocated_peak') / MIB:.1f}"),
            ("peak reserved MiB", lambda run: f"{total(run, 'reserved_peak') / MIB:.1f}"),
            ("of the device's memory",
             lambda run: f"{total(run, 'reserved_peak') / run['memory']:.0%}"),
            ("cudaMalloc", lambda run: total(run, "num_device_alloc")),
            ("cudaFree", lambda run: total(run, "num_device_free")),
            ("retries after a release", lambda run: total(run, "num_alloc_retries")),
            ("out of memory, caught", lambda run: total(run, "num_ooms")),
            ("the judge's violations", lambda run: len(run["violations"])),
            ("the application's mistakes", lambda run: len(run["mistakes"]))]
    lines = [f"{'ten steps of training':28}{'PyTorch':>10}{'Cairn':>10}"]
    lines += [f"{words:28}" + "".join(f"{value(runs[name]):>10}" for name in NAMES)
              for words, value in rows]
    return "\n".join(lines)


class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runs = {name: train(name, OUT) for name in NAMES}
        print(table(cls.runs))

    def each(self):
        return self.runs.items()

    def test_all_steps_are_done_and_one_is_caught(self):
        for name, run in self.each():
            caught = [step["step"] for step in run["steps"] if step["caught"]]
            self.assertEqual((len(run["steps"]), caught, total(run, "num_ooms")), (10, [6], 1),
                             name)
            self.assertIn("out of memory", run["steps"][6]["caught"])

    def test_nothing_is_wrong(self):
        for name, run in self.each():
            self.assertEqual((run["violations"], run["mistakes"]), ([], []), name)

    def test_memory_is_short(self):
        for name, run in self.each():
            self.assertGreaterEqual(total(run, "reserved_peak"), 0.9 * run["memory"], name)

    def test_the_requests_are_the_same(self):
        texts = [(OUT / f"{name}.program").read_text(encoding="utf-8") for name in NAMES]
        self.assertGreater(texts[0].count("\nalloc "), 1000)
        self.assertEqual(texts[0].count("# a request failed"), 1)
        self.assertGreater(texts[0].count("\nuse "), 9)
        self.assertEqual(texts[0], texts[1])

    def test_what_is_allocated_is_the_same_at_each_step(self):
        for theirs, ours in zip(*(self.runs[name]["steps"] for name in NAMES)):
            for key in ("allocated_current", "allocated_peak"):
                self.assertEqual(ours[key], theirs[key], f"step {ours['step']}: {key}")

    def test_cairn_holds_no_more_and_asks_the_driver_no_more(self):
        for theirs, ours in zip(*(self.runs[name]["steps"] for name in NAMES)):
            for key in ("reserved_current", "reserved_peak", "num_device_alloc",
                        "num_device_free", "num_alloc_retries"):
                self.assertLessEqual(ours[key], theirs[key], f"step {ours['step']}: {key}")

    def test_nothing_is_left_at_the_end(self):
        for name, run in self.each():
            states = {block["state"] for segment in run["map"] for block in segment["blocks"]}
            self.assertIn("inactive", states, name)
            self.assertNotIn("active_allocated", states, name)

    def test_the_judge_sees_that_record_stream_is_forgotten(self):
        for name in NAMES:
            run = train(name, OUT / "forgotten", "--forget-record-stream")
            self.assertEqual(run["violations"], [], name)
            self.assertGreater(len(run["mistakes"]), 0, name)
            self.assertIn("unordered with an earlier one", run["mistakes"][0])

    def test_the_recorded_requests_hold_in_lockstep_with_the_model(self):
        if TOOL is None:
            self.skipTest("no cairn tool is named")
        files = [str(OUT / f"{name}.program") for name in NAMES]
        process = subprocess.run([TOOL, "run", *files], capture_output=True, text=True,
                                 check=False)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path, metavar="OUT_FOLDER")
    parser.add_argument("tool", nargs="?", metavar="CAIRN_TOOL")
    args = parser.parse_args()
    OUT, TOOL = args.out, args.tool
    unittest.main(argv=sys.argv[:1])
