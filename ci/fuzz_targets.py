"""The fuzz targets, the builds they run in, and how a campaign's time is shared among them."""

import configparser
import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
FOUND = Path("build/fuzz/corpus")  # What campaigns found, by target; the seeds are fuzz/corpus.
FINDINGS = Path("build/fuzz/findings")
LOGS = Path("build/fuzz/log")
TO_PROGRAM = Path("build/fuzz/bin/tape_to_program")  # Makes a Program of a tape.


@dataclass(frozen=True)
class Target:
    name: str
    share: int = 1  # Of the time, beside the other targets, in each build it runs in.
    tape: bool = False  # Its inputs are tapes of operations; otherwise they are a text or a file.
    more_seeds: str = ""
    seeded: bool = True  # It starts from its seeds, not from what was found before alone.

    @property
    def builds(self):
        return ("fuzz", "fuzz_constant") if self.tape else ("fuzz",)

    @property
    def seeds(self):
        places = [Path("fuzz/corpus") / self.name] if self.seeded else []
        if self.more_seeds:
            places.append(Path(self.more_seeds))
        return [place for place in places if place.is_dir()]

    @property
    def found(self):
        return FOUND / self.name

    def binary(self, build):
        return Path("build") / build / "bin" / self.name

    @property
    def settings(self):
        """Of libFuzzer, from fuzz/NAME.options, which whoever else runs the target reads too."""
        options = configparser.ConfigParser()
        options.read(Path("fuzz") / (self.name + ".options"))
        return dict(options["libfuzzer"]) if "libfuzzer" in options else {}

    @property
    def most_bytes(self):
        return int(self.settings.get("max_len", 4096))

    def options(self):
        dictionary = Path("fuzz") / (self.name + ".dict")
        given = [f"-{name}={value}" for name, value in self.settings.items()]
        given += ["-rss_limit_mb=2048", "-print_final_stats=1", "-print_funcs=0"]
        return given + ([f"-dict={dictionary}"] if dictionary.exists() else [])


# Any other fuzz/NAME_fuzzer.cc is a target too, with the values that a Target has by itself.
KNOWN = [
    Target("allocator_fuzzer", share=5, tape=True),
    Target("heap_fuzzer", share=3, tape=True),
    Target("program_fuzzer", more_seeds="proptests/regressions"),
]
CHECKS = {"fuzz": "heap", "fuzz_constant": "constant"}  # The level of a build's invariants.


class Refused(Exception):
    """Why a command cannot be carried out."""


def all_targets():
    known = {target.name: target for target in KNOWN}
    names = sorted(path.stem for path in Path("fuzz").glob("*_fuzzer.cc"))
    return [known.get(name, Target(name)) for name in names]


def targets_named(names):
    by_name = {target.name: target for target in all_targets()}
    for name in names:
        if name not in by_name:
            raise Refused(f"no such target: {name}; there are {', '.join(by_name)}")
    return [by_name[name] for name in dict.fromkeys(names or by_name)]


def brief(targets):
    """Those of tapes without their seeds, all of which would have to be run first."""
    return [replace(target, seeded=not target.tape) for target in targets]


def build(targets, configurations, out):
    """Builds the targets where they are missing or older than their sources; text goes to out."""
    for configuration in configurations:
        wanted = [target.name for target in targets if configuration in target.builds]
        if not wanted:
            continue
        if configuration == "fuzz" and any(target.tape for target in targets):
            wanted.append(TO_PROGRAM.name)
        call = ["ci/build", *(f"--target={name}" for name in wanted), configuration]
        if subprocess.run(call, stdout=out, check=False).returncode != 0:
            raise Refused(f"build/{configuration} cannot be built")


def missing_binaries(targets, configurations):
    return [str(target.binary(configuration)) for target in targets
            for configuration in configurations
            if configuration in target.builds and not target.binary(configuration).exists()]


def environment():
    """For what runs sanitized: stacks with names, and codes of exit that nothing else has."""
    symbolizer = "/usr/bin/llvm-symbolizer-19"
    settings = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1")
    if os.path.exists(symbolizer):
        settings["ASAN_SYMBOLIZER_PATH"] = symbolizer
    return settings


@dataclass(frozen=True)
class Slot:
    """A stretch of a lane's time, in seconds from the start of the campaign."""
    target: Target
    build: str
    start: int
    end: int


def share_out(targets, builds, lanes, seconds):
    """For each lane its slots, which fill it. The time of a lane is shared by the weight of what
    runs in it, and the lanes weigh about the same. Where there are more lanes than runs, runs are
    doubled, the heaviest first."""
    jobs = [(target, one) for target in targets for one in builds if one in target.builds]
    distinct = list(jobs)
    while len(jobs) < lanes:
        jobs.append(max(distinct, key=lambda job: job[0].share / jobs.count(job)))
    filled = [[] for _ in range(lanes)]
    for job in sorted(jobs, key=lambda job: -job[0].share):
        min(filled, key=weight_of).append(job)
    least = max(map(len, filled))
    if seconds < least:
        raise Refused(f"{seconds} s on {lanes} cores is less than a second for each of the "
                      f"{len(jobs)} runs; ask for {least} s or more")
    return [slots_of(lane, seconds) for lane in filled]


def weight_of(lane):
    return sum(target.share for target, _ in lane)


def slots_of(lane, seconds):
    """A second for each, and the rest by weight."""
    slots, start, weighed = [], 0, 0
    for number, (target, one) in enumerate(lane, 1):
        weighed += target.share
        end = number + (seconds - len(lane)) * weighed // weight_of(lane)
        slots.append(Slot(target, one, start, end))
        start = end
    return slots
