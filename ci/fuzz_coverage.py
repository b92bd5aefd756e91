"""What corpora and properties reach of src/heap and src/allocator: lines, branches, MC/DC."""

import json
import os
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from evidence_record import circumstances, place_of, write
from fuzz_targets import TOP, Refused

FOLDER = Path("build/coverage")
PROFILES = FOLDER / "profiles"
BINARIES = FOLDER / "bin"
MEASURED = ("src/heap", "src/allocator")
# Of llvm-cov's listing: "/top/src/heap/a.cc:", "   12|  3.4k|  code", "  |  Branch (12:7): [...]".
FILE = re.compile(r"(/.*):$")
LINE = re.compile(r"\s*(\d+)\|\s*([\d.kMGTPE]*)\|(.*)")
BRANCH = re.compile(r"\s*\|\s+Branch \((\d+):(\d+)\): \[True: ([^,]+), False: ([^\]]+)\]")
UNREACHED = Path("fuzz/unreached.txt")
# Of its lines: path "the line of source" why no caller can take that branch.
REASON = re.compile(r'(\S+) "(.*)" ([^"]+)')


@dataclass
class Reach:
    """By file and line, and by file, line and column. A branch of a template counts once."""
    lines: dict = field(default_factory=dict)
    branches: dict = field(default_factory=dict)  # To (was it ever true, was it ever false).
    text: dict = field(default_factory=dict)
    conditions: dict = field(default_factory=dict)  # By file, (shown to decide alone, all): MC/DC.

    def branch(self, place, taken):
        before = self.branches.get(place, (False, False))
        self.branches[place] = (before[0] or taken[0], before[1] or taken[1])

    def untaken(self):
        """(file, line, column), and what never happened there."""
        for place, (true, false) in sorted(self.branches.items()):
            if not (true and false):
                yield place, "never false" if true else "never true" if false else "never reached"

    def counts(self, file=None):
        """What was reached and what there is, of one file or of all."""
        def of(places):
            return [value for place, value in places.items() if file in (None, place[0])]

        lines, sides = of(self.lines), of(self.branches)
        pairs = [pair for name, pair in self.conditions.items() if file in (None, name)]
        return {"lines_covered": sum(lines), "lines": len(lines),
                "branch_sides_covered": sum(map(sum, sides)), "branch_sides": 2 * len(sides),
                "mcdc_covered": sum(covered for covered, _ in pairs),
                "mcdc": sum(count for _, count in pairs)}

    def words(self):
        counts = self.counts()
        return "  ".join(self.share(counts[f"{name}_covered"], counts[name])
                         for name in ("lines", "branch_sides", "mcdc"))

    @staticmethod
    def share(part, whole):
        return f"{100 * part / max(whole, 1):6.2f} % ({part:>5,} of {whole:>5,})"


def measured_files():
    found = [path for folder in MEASURED for path in sorted(Path(folder).glob("*"))]
    return [path for path in found
            if path.suffix in (".h", ".cc") and not path.name.endswith("_test.cc")]


def read_listing(listing):
    """A Reach of what `llvm-cov show` prints. A branch that is folded has no counts there."""
    reach = Reach()
    name = ""
    for line in listing.splitlines():
        if match := FILE.match(line):
            name = os.path.relpath(match[1], TOP)
        elif match := LINE.match(line):
            place = (name, int(match[1]))
            reach.text[place] = match[3].strip()
            if match[2]:
                reach.lines[place] = match[2] != "0"
        elif match := BRANCH.match(line):
            reach.branch((name, int(match[1]), int(match[2])), (match[3] != "0", match[4] != "0"))
    return reach


def read_reasons(lines):
    """By file and text of the line. Lines that begin with # are comments."""
    reasons = {}
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        match = REASON.fullmatch(line.strip())
        if match is None:
            raise Refused(f"{UNREACHED}: no reason: {line.strip()}")
        reasons[match[1], match[2]] = match[3]
    return reasons


def tell_untaken(reach, reasons):
    """Prints the branches never taken, each with its reason, then those that have none; gives them
    all."""
    print("\nBranches never taken by either:")
    unused = dict(reasons)
    untaken = []
    for (file, line, column), what in reach.untaken():
        text = reach.text[file, line]
        reason = reasons.get((file, text))
        print(f"{file}:{line}:{column}: {what}: {text}")
        if reason:
            print(f"    {reason}")
            unused.pop((file, text), None)
        untaken.append({"place": f"{file}:{line}:{column}", "what": what, "text": text,
                        "reason": reason})
    bare = [one["place"] for one in untaken if one["reason"] is None]
    print(f"\nOf these without a reason in {UNREACHED}: {', '.join(bare) or 'none'}")
    for file, text in unused:
        print(f"{UNREACHED}: no such branch is left: {file} \"{text}\"")
    return untaken


def run(words, **more):
    return subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, check=False, **more)


def profiled(kind, binary, *arguments, **settings):
    """Runs a binary of build/coverage; its counters go to a profile of that kind."""
    log = PROFILES / f"{kind}-{binary}.log"
    profile = log.with_suffix(".profraw")
    with open(log, "wb") as out:
        code = run([BINARIES / binary, *arguments], stdout=out, stderr=out,
                   env=dict(os.environ, LLVM_PROFILE_FILE=str(profile), **settings)).returncode
    if not profile.exists():
        raise Refused(f"{binary} left no profile: exit {code}, see {log}")
    return f"{binary}: exit {code}, see {log}" if code != 0 else None


def replay(target):
    places = [place for place in (*target.seeds, target.found) if place.is_dir()]
    places = [place for place in places if any(place.iterdir())]
    if not places:
        return f"{target.name}: no corpus"
    return profiled("fuzzing", target.name, *places)


def properties():
    return profiled("properties", "properties", "--gtest_brief=1", RC_PARAMS="seed=1")


def merged(name, profiles):
    data = PROFILES / f"{name}.profdata"
    if run(["llvm-profdata-19", "merge", "-sparse", *profiles, "-o", data]).returncode != 0:
        raise Refused(f"{data} cannot be made")
    return data


def llvm_cov(command, data, targets, *more, **options):
    binaries = [BINARIES / target.name for target in targets] + [BINARIES / "properties"]
    objects = [word for binary in binaries[1:] for word in ("-object", binary)]
    # It warns of functions that differ: each target has a LLVMFuzzerTestOneInput of its own.
    done = run(["llvm-cov-19", command, f"-instr-profile={data}", binaries[0], *objects, *more],
               stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        raise Refused(f"llvm-cov-19: {done.stderr.strip()}")
    return done.stdout


def read_conditions(exported):
    """Of what `llvm-cov export` prints: by file how many conditions were shown to decide alone."""
    return {os.path.relpath(file["filename"], TOP):
            (file["summary"]["mcdc"]["covered"], file["summary"]["mcdc"]["count"])
            for file in json.loads(exported)["data"][0]["files"]}


def reach_of(data, targets):
    reach = read_listing(llvm_cov("show", data, targets, "-show-branches=count",
                                  "-show-instantiations=false", "-use-color=false", "-sources",
                                  *measured_files(), stdout=subprocess.PIPE))
    reach.conditions = read_conditions(llvm_cov("export", data, targets, "-summary-only",
                                                "-sources", *measured_files(),
                                                stdout=subprocess.PIPE))
    return reach


def page(data, targets):
    llvm_cov("show", data, targets, "-show-branches=count", "-show-mcdc", "-show-mcdc-summary",
             "-format=html", f"-output-dir={FOLDER}", "-ignore-filename-regex=_test[.]cc$",
             "-sources", "src", "invariants")


def figures_of(reaches, untaken):
    """`reaches` by name; the last is what the files are told of."""
    together = list(reaches.values())[-1]
    files = sorted({file for file, _ in together.lines})
    return {"measured": list(MEASURED),
            "sets": [{"name": name, **reach.counts()} for name, reach in reaches.items()],
            "files": [{"file": file, **together.counts(file)} for file in files],
            "branches_never_taken": untaken}


def coverage(targets, command):
    begun = time.monotonic()
    if run(["ci/setup", "test"]).returncode or run(["ci/build", "coverage"]).returncode:
        raise Refused("build/coverage cannot be built")
    shutil.rmtree(PROFILES, ignore_errors=True)
    PROFILES.mkdir(parents=True)
    print(f"running {len(targets)} corpora and the properties", flush=True)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        jobs = [pool.submit(properties), *(pool.submit(replay, target) for target in targets)]
        troubles = [trouble for job in jobs if (trouble := job.result())]
    sets = {"fuzzing alone": sorted(PROFILES.glob("fuzzing-*.profraw")),
            "properties alone": sorted(PROFILES.glob("properties-*.profraw"))}
    sets["together"] = sum(sets.values(), [])
    print(f"\n{', '.join(MEASURED):<20}{'lines':>25}{'branches':>27}{'MC/DC':>27}")
    reaches = {}
    for name, profiles in sets.items():
        if profiles:
            data = merged(name.replace(" ", "_"), profiles)
            reaches[name] = reach_of(data, targets)
            print(f"{name:<20}{reaches[name].words()}", flush=True)
    untaken = tell_untaken(reaches["together"], read_reasons(UNREACHED.read_text().splitlines()))
    page(data, targets)
    print(f"\nThe page: {FOLDER}/index.html")
    for trouble in troubles:
        print(f"ci/fuzz --coverage: {trouble}")
    write(place_of("coverage", True), {**circumstances(["ci/fuzz", *command],
                                                       time.monotonic() - begun),
                            **figures_of(reaches, untaken), "troubles": troubles})
    return 1 if troubles else 0
