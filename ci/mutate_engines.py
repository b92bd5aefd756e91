"""What tries to kill a mutant, cheapest first. An engine more is a line more in ENGINES."""

import os
import re
import resource
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent / "build/mutants"
BUILD = TREE / "build/dev"
BUILD_THREADS = TREE / "build/threads"
TIMES = 4  # So many times the processor time that it takes without a mutant;
SMALLEST_LIMIT = 4.0  # so many seconds at least.
MEMORY = 6 << 30
INVARIANT = re.compile(r"\b([A-Z]\d{1,2})(?: \(|: )")
ASSERTION = re.compile(r": Assertion '(.*)' failed\.")
FAILED = re.compile(r"\[  FAILED  \] ([\w/]+\.[\w/]+)")


@dataclass(frozen=True)
class Engine:
    """`tests`: a gtest program, of which only the tests that reach a mutant run; the filter says
    which of its tests are this engine's. Else a program that is run as it is. `threads`: built with
    ThreadSanitizer, and only for what changes locks."""
    name: str
    program: str
    tests: str = ""
    arguments: tuple = ()
    environment: tuple = ()
    threads: bool = False

    def binary(self):
        return (BUILD_THREADS if self.threads else BUILD) / "bin" / self.program

    def is_for(self, about_locks):
        return about_locks or not self.threads


RAPIDCHECK = (("RC_PARAMS", "seed=1 max_success=8 noshrink=1"),)
ENGINES = (
    Engine("unit tests of the heap", "heap_test", "*"),
    Engine("unit tests of the allocator", "allocator_test", "-Threads*"),
    Engine("saved Programs", "properties", "*Regression*-Regressions.*:*Seeds*"),
    Engine("corpus of the heap", "heap_fuzzer", arguments=("fuzz/corpus/heap_fuzzer",)),
    Engine("corpus of the allocator", "allocator_fuzzer",
           arguments=("fuzz/corpus/allocator_fuzzer",)),
    Engine("soak", "soak", arguments=("--operations=10000", "--seed=1", "--no-shrink",
                                      "--folder=/tmp")),
    Engine("threads", "allocator_test", "Threads*"),
    Engine("properties", "properties", "-*Regression*:*Teeth*:*Canary*", environment=RAPIDCHECK),
    Engine("fault loop", "fault_loop", arguments=("--programs=2", "--operations=20", "--jobs=1")),
    Engine("ThreadSanitizer", "thread_tests", "*", threads=True,
           environment=(("TSAN_OPTIONS", "halt_on_error=1:exitcode=66"),)),
)


def targets(threads):
    return sorted({engine.program for engine in ENGINES if engine.threads == threads})


@dataclass
class Ran:
    status: int  # As subprocess gives it: below 0 a signal.
    seconds: float  # Of the processor.
    out_of_time: bool
    output: str = ""

    def is_fine(self):
        return self.status == 0 and not self.out_of_time


@dataclass
class Verdict:
    """`result`: killed by an invariant, a test or an oracle, crashed, timed out, or survived."""
    result: str
    engine: str = ""
    by: str = ""
    seconds: float = 0.0
    output: str = field(default="", repr=False)


def limited(seconds, memory):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return limit


def spent(process):
    """Waits for the process; its processor time. None where the time on the wall ran out."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def run(command, environment, seconds):
    """Runs it within so much processor time, and within some times that on the wall."""
    folder = TREE / "run"
    out = folder / f"out.{os.getpid()}.{time.monotonic_ns()}"
    wall = 4 * seconds + 15
    memory = resource.RLIM_INFINITY if "TSAN_OPTIONS" in environment else MEMORY
    with open(out, "wb") as log:
        process = subprocess.Popen(
            ["timeout", "--signal=KILL", str(int(wall)), *command], stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, env={**os.environ, **environment}, 
            preexec_fn=limited(seconds, memory),
            cwd=folder, start_new_session=True)
        used = spent(process)
    text = out.read_bytes()[-60000:].decode("utf-8", "replace")
    out.unlink()
    status = process.returncode
    if status > 128:  # As `timeout` tells of a signal.
        status = 128 - status
    # A job of a program that has several may have run out of time, and the program tells of it.
    over = status in (-signal.SIGXCPU, -signal.SIGKILL) or (status != 0 and used >= seconds)
    return Ran(status, used, over, text)


def command_of(engine, tests):
    program = str(engine.binary())
    if engine.tests:
        return [program, "--gtest_fail_fast", "--gtest_brief=1",
                "--gtest_filter=" + ":".join(tests)]
    places = [str(TREE / a) if (TREE / a).exists() else a for a in engine.arguments]
    return [program, *places]


def judged(engine, ran, invariants):
    """What a run that did not go well tells of a mutant."""
    if ran.out_of_time:
        return Verdict("timed out", engine.name, "", ran.seconds)
    if broken := ASSERTION.search(ran.output):
        return Verdict("killed by oracle", engine.name, f"libstdc++: {broken[1]}", ran.seconds,
                       ran.output)
    by = next((i for i in INVARIANT.findall(ran.output) if i in invariants), "")
    test = FAILED.search(ran.output)
    race = re.search(r"WARNING: ThreadSanitizer: [\w -]+", ran.output)
    if race:
        seen = race[0].removeprefix("WARNING: ").strip()
        return Verdict("killed by oracle", engine.name, seen, ran.seconds, ran.output)
    if by:
        return Verdict("killed by invariant", engine.name, by, ran.seconds, ran.output)
    if test:
        return Verdict("killed by test", engine.name, test[1], ran.seconds, ran.output)
    if ran.status < 0 and "cairn" not in ran.output.lower():
        return Verdict("crashed", engine.name, signal.Signals(-ran.status).name, ran.seconds,
                       ran.output)
    return Verdict("killed by oracle", engine.name, oracle(ran.output), ran.seconds, ran.output)


def oracle(output):
    """In a few words what an engine that is no test found."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    said = [line for line in lines if re.match(r"(why|found|expected|line \d+|violation)", line)]
    return (said or lines or ["no word"])[-1][:80]


def listed_tests(engine):
    out = subprocess.run([str(engine.binary()), "--gtest_list_tests",
                          f"--gtest_filter={engine.tests}"], text=True, stdout=subprocess.PIPE,
                         check=True).stdout
    suite, tests = "", []
    for line in out.splitlines():
        name = line.split("#")[0].strip()
        if line.startswith("  "):
            tests.append(suite + name)
        elif name.endswith("."):
            suite = name
    return tests


def reached_by(command, environment, seconds=600.0):
    """Runs it without a mutant: how long it takes, and the numbers of what it reaches."""
    path = TREE / "run" / f"reached.{time.monotonic_ns()}"
    ran = run(command, {**environment, "CAIRN_MUTANT_REACHED": str(path)}, seconds)
    reached = []
    if path.exists():
        reached = [n for n, byte in enumerate(path.read_bytes()) if byte]
        path.unlink()
    return ran, reached
