"""What is done with an input that crashes a target: it is made small, and put into words."""

import re
import shlex
import subprocess
from pathlib import Path

from fuzz_targets import FINDINGS, TO_PROGRAM, environment

SHRINK_SECONDS = 180
MINIMIZE_SECONDS = 20
# Of a log: what libFuzzer counts, and frames of a stack that are its own or the system's.
NOISE = re.compile(r"#\d+\t|INFO: |Dictionary: |NOTE: libF|      Combine libF|stat::|"
                   r"\s+#\d+ \w+ in (fuzzer::|__libc_start|__sanitizer_|raise|abort|main|_start|"
                   r"__pthread_kill|__interceptor_)")
TOOL = Path("build/checked/bin/cairn")


def quoted(*words):
    return shlex.join(map(str, words))


def call(words, seconds):
    """The exit code and the last words on stderr."""
    try:
        done = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=seconds, env=environment())
    except subprocess.TimeoutExpired:
        return None, f"it took more than {seconds} s"
    except OSError as error:
        return None, str(error)
    said = done.stderr.decode(errors="replace").strip()
    return done.returncode, said.splitlines()[-1] if said else f"exit {done.returncode}"


def name_of(target, artifact):
    digest = Path(artifact).name.rpartition("-")[2]
    return f"{target.name}-{digest[:12]}"


def program_of(target, artifact):
    """The Program that a tape is, minimised; none where it could not be made."""
    program = FINDINGS / (name_of(target, artifact) + ".program")
    program.unlink(missing_ok=True)
    code, words = call([TO_PROGRAM, artifact, "-o", program], SHRINK_SECONDS)
    return (program, "") if code == 0 and program.exists() else (None, words)


def program_in(log):
    """The Program that the target itself wrote (fuzz/findings.h), if it did."""
    written = re.findall(r"^replay: .* run (\S+)$", log.read_text(errors="replace"), re.MULTILINE)
    return Path(written[-1]) if written and Path(written[-1]).exists() else None


def told_of_program(program):
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


def told_of_input(target, build, artifact):
    smallest = minimised(target, build, artifact)
    data = smallest.read_bytes()
    return [f"  input:   {smallest} ({len(data)} bytes): {data[:160]!r}",
            f"  replay:  {quoted(target.binary(build), smallest)}",
            f"  keep:    {quoted('cp', smallest, f'fuzz/corpus/{target.name}/WHAT_IT_IS')}",
            "           under a name of its own; ctest runs every file there"]


def reason(log):
    """The lines of a log that say what was found, without the dump of the input after them."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    ends = [i for i, line in enumerate(lines) if line.startswith(("SUMMARY:", "MS: "))]
    last = ends[0] if ends else len(lines)
    said = [line for line in lines[:last] if line.strip() and not NOISE.match(line)]
    return ["  | " + line[:160] for line in said[-16:]]


def told(run, artifact):
    """Lines that say what was found, where it is, how to replay it and how to keep it."""
    target, build = run.slot.target, run.slot.build
    lines = [f"FOUND by {target.name} (build/{build}): {artifact}", *reason(run.log)]
    program, why = program_in(run.log), ""
    if not program and target.tape:
        program, why = program_of(target, artifact)
    if program:
        return lines + told_of_program(program)
    if why:
        lines.append(f"  no Program was made of it: {why}")
    return lines + told_of_input(target, build, artifact)
