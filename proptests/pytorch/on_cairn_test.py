#!/usr/bin/env python3
"""PyTorch's wheel on Cairn: the stories of on_cairn.py, each in a process of its own, and what each
of them saw. ci/clients sets up what is needed and runs this."""

import pathlib
import re
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(__file__).parent


def run(story: str) -> str:
    """What the story said. Fails with all of it where it does not hold."""
    process = subprocess.run([sys.executable, "-W", "ignore", str(FOLDER / "on_cairn.py"), story],
                             capture_output=True, text=True, check=False)
    if process.returncode != 0:
        raise AssertionError(f"{story}: status {process.returncode}\n{process.stderr[-3000:]}")
    return process.stdout


class OnCairn(unittest.TestCase):
    def tell(self, story: str, pattern: str) -> None:
        said = run(story)
        print(f"{story}: {said.splitlines()[0]}")
        self.assertRegex(said, pattern)

    def test_an_application(self):
        self.tell("application", "^views, frees, record_stream")

    def test_out_of_memory(self):
        self.tell("out_of_memory", r"^RuntimeError: CUDA out of memory\. Tried to allocate 300\.00 "
                  r"MiB .* 800\.00 MiB that Cairn holds")

    def test_statistics_are_those_of_pytorch(self):
        self.tell("statistics", "^123 statistics and 3 segments")

    def test_what_pytorch_refuses(self):
        self.tell("refusals", "^Cairn, device 0, of which 100% may be held:\n"
                  r"  held from the driver 2\.00 MiB \(at most 2\.00 MiB\), in 1 segment\n")

    def test_a_change_that_is_too_late(self):
        self.tell("too_late", "^RuntimeError: .*must be called before PyTorch first uses a GPU")

    def test_a_memory_pool(self):
        self.tell("pool", "out of memory in the pool: RuntimeError: CUDA out of memory")

    def test_threads(self):
        self.tell("threads", "^300 allocations of 3 threads")

    def test_record_stream(self):
        self.tell("side_streams", "^0 violations, 0 mistakes$")

    def test_the_judge_sees_that_record_stream_does_not_reach_cairn(self):
        self.tell("without_the_hook", r"^3 violations, 0 mistakes\n.* unordered with an earlier")

    def test_the_judge_sees_that_record_stream_is_forgotten(self):
        self.tell("without_record_stream", r"^0 violations, 3 mistakes\n.* was not told")


def stories_without_a_test() -> set[str]:
    text = pathlib.Path(__file__).read_text(encoding="utf-8")
    listed = re.search(r"\{([\w,]+)\}", run("--help"))[1].split(",")
    return {name for name in listed if f'"{name}"' not in text}


class EveryStory(unittest.TestCase):
    def test_is_told(self):
        self.assertEqual(stories_without_a_test(), set())


if __name__ == "__main__":
    unittest.main()
