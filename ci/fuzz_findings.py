"""What is done with an input that crashes a target: it is made small, and put into words."""

import shlex
import subprocess
from pathlib import Path

from fuzz_targets import FINDINGS, environment

SHRINK_SECONDS = 120
MINIMIZE_SECONDS = 20
TOOL = Path("build/checked/bin/cairn")
TO_PROGRAM = Path("build/fuzz/bin/tape_to_program")


def quoted(*words):
    return shlex.join(map(str, words))


def call(words, seconds):
    """The exit code; none where it took longer."""
    try:
        return subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=seconds, env=environment()).returncode
    except subprocess.TimeoutExpired:
        return None


def name_of(target, artifact):
    digest = Path(artifact).name.rpartition("-")[2]
    return f"{target.name}-{digest[:12]}"


def program_of(target, artifact, out):
    """The Program that a tape is, minimised; none where it could not be made."""
    program = FINDINGS / (name_of(target, artifact) + ".program")
    built = subprocess.run(["ci/build", f"--target={TO_PROGRAM.name}", "fuzz"], stdout=out,
                           check=False)
    if built.returncode != 0:
        return None, f"{TO_PROGRAM} cannot be built"
    program.unlink(missing_ok=True)
    code = call([TO_PROGRAM, artifact, "-o", program], SHRINK_SECONDS)
    if code == 0 and program.exists():
        return program, ""
    why = {None: f"it took more than {SHRINK_SECONDS} s",
           1: "run again, the tape finds nothing"}.get(code, f"exit {code}")
    return None, f"{TO_PROGRAM}: {why}"


def told_of_tape(target, build, artifact, out):
    program, why = program_of(target, artifact, out)
    replay = f"  replay:  {quoted(target.binary(build), artifact)}"
    if program is None:
        return [f"  no Program was made of it: {why}", replay]
    tool = "" if TOOL.exists() else "ci/build --tool checked && "
    keep = "proptests/regressions/WHAT_MUST_HOLD.program"
    return [f"  Program: {program}",
            *("    " + line for line in program.read_text(encoding="utf-8").splitlines()[:40]),
            f"  replay:  {tool}{quoted(TOOL, 'run', program)}",
            f"  keep:    {quoted('cp', program, keep)}",
            "           and a row with its name in proptests/regressions/README.md"]


def minimised(target, build, artifact):
    smaller = FINDINGS / (name_of(target, artifact) + ".min")
    smaller.unlink(missing_ok=True)
    if "-crash-" in Path(artifact).name:  # What hangs or fills the memory would do so each time.
        call([target.binary(build), "-minimize_crash=1", f"-max_total_time={MINIMIZE_SECONDS}",
              f"-max_len={target.most_bytes}", f"-exact_artifact_path={smaller}", artifact],
             MINIMIZE_SECONDS + 60)
    kept = smaller.exists() and smaller.stat().st_size < Path(artifact).stat().st_size
    return smaller if kept else Path(artifact)


def told_of_text(target, build, artifact):
    smallest = minimised(target, build, artifact)
    data = smallest.read_bytes()
    return [f"  input:   {smallest} ({len(data)} bytes): {data[:160]!r}",
            f"  replay:  {quoted(target.binary(build), smallest)}",
            f"  keep:    {quoted('cp', smallest, f'fuzz/corpus/{target.name}/what_it_is')}",
            "           under a name of its own; ctest runs every file there"]


def reason(log):
    """The lines of a log that say what was found, without the dump of the input after them."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    ends = [i for i, line in enumerate(lines) if line.startswith(("SUMMARY:", "MS: "))]
    last = ends[0] if ends else len(lines)
    said = [line for line in lines[:last] if line.strip() and not line.startswith(("#", "\t"))]
    return ["  | " + line[:160] for line in said[-14:]]


def told(run, artifact, out):
    """Lines that say what was found, where it is, how to replay it and how to keep it. What builds
    meanwhile is said on out."""
    target, build = run.slot.target, run.slot.build
    lines = [f"FOUND by {target.name} (build/{build}): {artifact}", *reason(run.log)]
    if target.tape:
        return lines + told_of_tape(target, build, artifact, out)
    return lines + told_of_text(target, build, artifact)
