"""Tries ci/bench in a folder of its own, where cmake and the benchmarks are stand-ins."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

CI = Path(__file__).resolve().parent
# What ci/bench, ci/build and ci/setup need of a machine besides cmake.
TOOLS = ("bash", "cat", "dirname", "mktemp", "nproc", "python3", "rm")
CONFIGURATIONS = 4  # The release, and each level of the invariants but off.

# Writes down how it is called; as `cmake --build` makes the programs, and as one its numbers.
STAND_IN = """#!/usr/bin/env python3
import json, os, shutil, sys
from pathlib import Path
name, words = Path(sys.argv[0]).name, sys.argv[1:]
with open(os.environ["CALLS"], "a") as calls:
    print(name, *words, file=calls)
if name == "cmake" and words[0] == "--build":
    folder = Path(words[1], "bin")
    folder.mkdir(parents=True, exist_ok=True)
    for program in os.environ["PROGRAMS"].split():
        shutil.copy(sys.argv[0], folder / program)
held = {"peak_reserved_bytes": 2, "reserved_over_live": 2.0, "malloc_calls": 9, "free_calls": 0,
        "event_calls": 0}
if name == "fragmentation":
    row = {"sequence": "s", "steps": 1, "peak_live_bytes": 1, "cairn": held, "direct": held}
    Path(words[1]).write_text(json.dumps([row]))
for word in words:
    if word.startswith("--benchmark_out="):
        entry = {"name": "n", "run_name": "hit/same_victim/1000/cairn", "cpu_time": 30.0}
        Path(word.split("=", 1)[1]).write_text(json.dumps({"benchmarks": [entry]}))
"""


class Place:
    """A copy of ci/, and a PATH that has nothing but what is named."""

    def __init__(self, folder, programs, tools):
        self.top = folder / "sources"
        self.tools = folder / "tools"
        self.calls = folder / "calls"
        self.out = folder / "out"
        shutil.copytree(CI, self.top / "ci", ignore=shutil.ignore_patterns("__pycache__"))
        self.tools.mkdir()
        for tool in tools:
            (self.tools / tool).symlink_to(shutil.which(tool))
        self.stand_in("cmake")
        self.environment = {"PATH": str(self.tools), "CALLS": str(self.calls),
                            "PROGRAMS": " ".join(programs), "PYTHONDONTWRITEBYTECODE": "1",
                            "HOME": str(folder)}

    def stand_in(self, name):
        path = self.tools / name
        path.write_text(STAND_IN, encoding="utf-8")
        path.chmod(0o755)

    def commit(self, folder):
        """Makes a checkout of the folder, of no files, and gives the name of its commit."""
        git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=b"]
        subprocess.run([*git, "init", "--quiet"], check=True, env=self.environment)
        subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message=c"], check=True,
                       env=self.environment)
        return subprocess.run([*git, "rev-parse", "--short", "HEAD"], check=True, text=True,
                              stdout=subprocess.PIPE, env=self.environment).stdout.strip()

    def faults(self, commit, uses_ccache):
        """What of a whole run of ci/bench is not as it should be."""
        run = subprocess.run([self.top / "ci/bench", "--out", self.out], check=False, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             env=self.environment)
        if run.returncode != 0:
            yield f"exits with {run.returncode}: {run.stdout[-2000:]}"
            return
        found = json.loads((self.out / "bench.json").read_text(encoding="utf-8"))["commit"]
        if found != commit:
            yield f"says commit {found}, not {commit}"
        configured = [line for line in self.calls.read_text(encoding="utf-8").splitlines()
                      if line.startswith("cmake -S")]
        if len(configured) != CONFIGURATIONS:
            yield f"{len(configured)} configurations, not {CONFIGURATIONS}"
        for line in configured:
            if ("ccache" in line) != uses_ccache:
                yield f"{'no ccache' if uses_ccache else 'ccache'} in: {line}"


def self_test(programs):
    failures = []
    with tempfile.TemporaryDirectory() as scratch:
        bare = Path(scratch, "bare")
        bare.mkdir()
        failures += [f"without git and ccache: {fault}"
                     for fault in Place(bare, programs, TOOLS).faults("unknown", False)]
        if shutil.which("git") is not None:
            checkout, within = Path(scratch, "checkout"), Path(scratch, "within")
            for folder in (checkout, within):
                folder.mkdir()
            place = Place(checkout, programs, (*TOOLS, "git"))
            place.stand_in("ccache")
            failures += [f"in a checkout: {fault}"
                         for fault in place.faults(place.commit(place.top), True)]
            place = Place(within, programs, (*TOOLS, "git"))
            place.commit(within)
            failures += [f"within another checkout: {fault}"
                         for fault in place.faults("unknown", False)]
    print("\n".join([*failures, f"bench self-test: {len(failures)} failures"]))
    return 1 if failures else 0
