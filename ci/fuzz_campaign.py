"""A campaign: processes of libFuzzer side by side, what they say, and what came of them."""

import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

from fuzz_targets import CHECKS, FINDINGS, LOGS, Refused, environment

PULSE = re.compile(r"#(\d+)\s+[A-Za-z]+\s.*?cov: (\d+) ft: (\d+) corp: (\d+).*? exec/s: (\d+)")
LOADED = re.compile(r"#\d+\s+INITED")
EXECUTED = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
OPERATIONS = re.compile(r"\w+: operations: ([\d,]+)")
EVALUATED = re.compile(r"([A-Z]\d+)\s+(\d+)")
NEVER_EVALUATED = re.compile(r"invariants never evaluated: (.*)")
ARTIFACT = re.compile(r"Test unit written to (\S+)")
NO_FINDING = "slow-unit-"  # libFuzzer keeps slow inputs too; it goes on after them.


@dataclass
class Figures:
    seconds: float = 0.0
    executions: int = 0
    operations: int | None = None  # Of the runs that came to their end; of others it is unknown.
    operation_seconds: float = 0.0  # What those runs took.
    coverage: int = 0
    features: int = 0
    corpus: int = 0
    lately: int = 0  # Executions a second, as libFuzzer last said.
    findings: list = field(default_factory=list)
    never_evaluated: set | None = None  # Invariants; none where no run looked at them all.
    evaluations: dict = field(default_factory=dict)  # By invariant, of runs that came to their end.

    def read(self, line):
        if match := PULSE.match(line):
            (self.executions, self.coverage, self.features, self.corpus,
             self.lately) = map(int, match.groups())
        elif match := EXECUTED.match(line):
            self.executions = int(match[1])
        elif match := OPERATIONS.match(line):
            self.operations = int(match[1].replace(",", ""))
        elif match := EVALUATED.fullmatch(line):
            self.evaluations[match[1]] = int(match[2])
        elif match := NEVER_EVALUATED.match(line):
            self.never_evaluated = set(match[1].split()) - {"none"}
        elif (match := ARTIFACT.search(line)) and NO_FINDING not in match[1]:
            self.findings.append(match[1])

    def add(self, other):
        if other.operations is not None:
            self.operations = (self.operations or 0) + other.operations
            self.operation_seconds += other.seconds
        self.never_evaluated = in_both(self.never_evaluated, other.never_evaluated)
        for invariant, times in other.evaluations.items():
            self.evaluations[invariant] = self.evaluations.get(invariant, 0) + times
        self.seconds += other.seconds
        self.executions += other.executions
        self.coverage = max(self.coverage, other.coverage)
        self.features = max(self.features, other.features)
        self.corpus = max(self.corpus, other.corpus)
        self.findings += other.findings


def in_both(a, b):
    return a if b is None else b if a is None else a & b


class Run:
    """One process of libFuzzer, from its slot's turn to its slot's end. It ends by itself, but for
    one that still runs its corpus then, which is stopped."""

    def __init__(self, slot, lane, seconds):
        self.slot = slot
        self.figures = Figures()
        self.log = LOGS / f"{slot.target.name}.{slot.build}.{lane}.log"
        self.unread = ""
        self.loaded = False  # It has run its corpus, and watches the time.
        self.stopped = False
        self.started = time.monotonic()
        self.seconds = seconds
        target = slot.target
        prefix = FINDINGS / f"{target.name}-{slot.build}-"
        command = [target.binary(slot.build), *target.options(), f"-artifact_prefix={prefix}",
                   f"-max_total_time={max(1, seconds - 1)}",  # It ends in the second after these.
                   target.found, *target.seeds]
        # The sanitized run of tapes is many times slower than the other, whose finds it would have
        # to run all the time; it gets them when the next campaign begins.
        if target.tape and slot.build == "fuzz":
            command.insert(1, "-reload=0")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=dict(environment(), CAIRN_FINDINGS=str(FINDINGS), CAIRN_HISTOGRAM="1",
                         CAIRN_COUNTS="1"),
                start_new_session=True)  # So that Ctrl-C is ours to pass on.
        self.reader = open(self.log, encoding="utf-8", errors="replace")

    def look(self):
        """Reads what was said since. True as long as the process runs."""
        running = self.process.poll() is None
        *lines, self.unread = (self.unread + self.reader.read()).split("\n")
        for line in lines:
            self.figures.read(line)
            self.loaded = self.loaded or bool(LOADED.match(line))
        self.figures.seconds = time.monotonic() - self.started
        if running and not self.loaded and self.figures.seconds > self.seconds:
            self.stop()
        return running

    def close(self):
        self.reader.close()

    def stop(self):
        self.stopped = True
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def failed(self):
        """It ended by itself, and neither ran nor found anything."""
        return not self.stopped and not self.figures.findings and (
            self.process.returncode != 0 or self.figures.executions == 0)

    def line(self):
        figures = self.figures
        return (f"{self.slot.target.name:<16} {CHECKS[self.slot.build]:<8} "
                f"{figures.seconds:5.0f} s {figures.executions:>11,} programs "
                f"{figures.lately:>9,}/s  corpus {figures.corpus:>6,}  "
                f"features {figures.features:>7,}")


class Screen:
    """A line for each run at work: on a terminal in place, elsewhere every ten seconds."""

    def __init__(self, out):
        self.out = out
        self.in_place = out.isatty()
        self.shown = 0
        self.due = 0.0 if self.in_place else time.monotonic() + 10

    def show(self, runs):
        if time.monotonic() < self.due:
            return
        self.due = time.monotonic() + (1 if self.in_place else 10)
        self.clear()
        for run in runs:
            print(run.line()[:100], file=self.out)
        self.shown = len(runs) if self.in_place else 0
        self.out.flush()

    def clear(self):
        print("\x1b[A\x1b[2K" * self.shown, end="", file=self.out, flush=True)
        self.shown = 0

    def say(self, text):
        self.clear()
        print(text, file=self.out, flush=True)


class Campaign:
    """Runs a plan (fuzz_targets.share_out). Figures are by (target, build)."""

    def __init__(self, plan, out=sys.stderr):
        self.plan = [list(slots) for slots in plan]
        self.running = [None] * len(plan)
        self.screen = Screen(out)
        self.results = {}
        self.found = []  # Runs that found something.
        self.failed = []  # Runs that did not run.
        self.interrupted = False
        for slot in (slot for slots in plan for slot in slots):
            self.results[slot.target, slot.build] = Figures()
            slot.target.found.mkdir(parents=True, exist_ok=True)
        for folder in (FINDINGS, LOGS):
            folder.mkdir(parents=True, exist_ok=True)

    def run(self):
        self.begun = time.monotonic()
        try:
            while any(self.plan) or any(self.running):
                for lane in range(len(self.plan)):
                    self.step(lane)
                self.screen.show([run for run in self.running if run])
                time.sleep(0.2)
        except KeyboardInterrupt:
            self.interrupted = True
            for lane, run in enumerate(self.running):
                if run:
                    run.stop()
                    run.look()
                    self.take(lane)
        self.screen.clear()
        self.seconds = time.monotonic() - self.begun

    def step(self, lane):
        run = self.running[lane]
        if run and not run.look():
            run.look()  # What it wrote between the last look and its end.
            self.take(lane)
        if self.running[lane] is None and self.plan[lane]:
            slot = self.plan[lane].pop(0)
            # Until the slot's end, so that a run before it that took longer is made up for.
            left = max(1, round(slot.end - (time.monotonic() - self.begun)))
            try:
                self.running[lane] = Run(slot, lane, left)
            except OSError as error:
                raise Refused(f"{slot.target.name} does not start: {error}") from error

    def take(self, lane):
        run, self.running[lane] = self.running[lane], None
        run.close()
        self.results[run.slot.target, run.slot.build].add(run.figures)
        if run.figures.findings:
            self.found.append(run)
            self.screen.say(f"{run.slot.target.name}: found {', '.join(run.figures.findings)}")
        if run.failed() and not self.interrupted:
            self.failed.append(run)
            self.screen.say(f"{run.slot.target.name}: did not run ({run.log})")


def idle(campaign):
    """Targets, with their builds, that had no time to run anything."""
    return [f"{target.name} (build/{build})" for (target, build), figures
            in campaign.results.items() if figures.executions == 0 and not figures.findings]


def rate(count, seconds):
    return None if count is None else round(count / max(seconds, 0.001), 1)


def rows(campaign):
    """What the table shows, for machines."""
    for (target, build), figures in campaign.results.items():
        yield {"target": target.name, "checks": CHECKS[build], "build": build,
               "seconds": round(figures.seconds, 1), "programs": figures.executions,
               "programs_per_second": rate(figures.executions, figures.seconds),
               "operations": figures.operations,
               "operations_per_second": rate(figures.operations, figures.operation_seconds),
               "coverage": figures.coverage, "features": figures.features,
               "corpus": figures.corpus, "findings": figures.findings}


def table(campaign):
    def number(value):
        return "-" if value is None else f"{value:,.0f}"

    yield (f"{'target':<16}  {'checks':<8}  {'seconds':>7}  {'programs':>11}  {'a second':>9}  "
           f"{'operations':>13}  {'a second':>9}  {'corpus':>6}  findings")
    for row in rows(campaign):
        yield (f"{row['target']:<16}  {row['checks']:<8}  {row['seconds']:>7.0f}  "
               f"{row['programs']:>11,}  {number(row['programs_per_second']):>9}  "
               f"{number(row['operations']):>13}  {number(row['operations_per_second']):>9}  "
               f"{row['corpus']:>6,}  {len(row['findings']):>8}")


def never_evaluated(campaign):
    """Ids of the invariants that no run evaluated; None where no run looked at them all."""
    never = None
    for figures in campaign.results.values():
        never = in_both(never, figures.never_evaluated)
    return never if never is None else sorted(never)


def summary(campaign):
    programs = sum(row["programs"] for row in rows(campaign))
    operations = sum(row["operations"] or 0 for row in rows(campaign))
    findings = sum(len(row["findings"]) for row in rows(campaign))
    names = {row["target"] for row in rows(campaign)}
    word = "nothing found" if findings == 0 else f"{findings} found"
    if campaign.failed:
        word += f", {len(campaign.failed)} DID NOT RUN"
    return (f"fuzz: {len(names)} targets, {campaign.seconds:.0f} s: {programs:,} programs, "
            f"{operations:,} operations, {word}")
