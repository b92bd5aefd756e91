"""What build.sh left of a target, looked at, and the target run as OSS-Fuzz's machines would."""

import os
import re
import subprocess
import tempfile
import time
import zipfile
from pathlib import Path

SYSTEM = re.compile(r"lib(c|m|dl|pthread|rt|resolv|gcc_s)\.so\.\d+|ld-linux-.*")
NEEDED = re.compile(r"\(NEEDED\).*\[(.*)\]")
SEEDS = re.compile(r"INFO: seed corpus: files: (\d+)")
EXECUTED = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
REPLAYED = re.compile(r"^(\d+) inputs$", re.MULTILINE)


def faults_of_files(target, out, build):
    """What is wrong with the files of a target, in words; nothing: []."""
    binary = out / target.name
    if not os.access(binary, os.X_OK):
        return ["no program in OUT"]
    faults = []
    if not re.fullmatch(r"[A-Za-z0-9_-]+", target.name):
        faults.append("its name is not of letters, digits, _ and -")
    for name in (f"{target.name}.options", f"{target.name}_seed_corpus.zip"):
        if not (out / name).exists():
            faults.append(f"no {name}")
    if Path("fuzz", f"{target.name}.dict").exists() and not (out / f"{target.name}.dict").exists():
        faults.append("its dictionary is not in OUT")
    if not faults and any("/" in name for name in seed_names(target, out)):
        faults.append("its seeds are not flat")
    dynamic = subprocess.run(["readelf", "--dynamic", "--wide", binary], stdout=subprocess.PIPE,
                             text=True, check=False).stdout
    # libFuzzer as Debian has it brings libstdc++.
    more = [name for name in NEEDED.findall(dynamic) if not SYSTEM.fullmatch(name) and
            (build == "stub" or not name.startswith("libstdc++"))]
    return faults + ([f"needs {', '.join(more)}"] if more else [])


def seed_names(target, out):
    with zipfile.ZipFile(out / f"{target.name}_seed_corpus.zip") as zipped:
        return zipped.namelist()


def can_hide_devices():
    return subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/dev"],
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def command_of(target, out, build, seconds, seeds):
    """Of libFuzzer with what stands in OUT, as a runner reads it there."""
    if build == "stub":
        return [out / target.name, seeds]
    words = [out / target.name, f"-max_total_time={seconds}", "-print_final_stats=1",
             "-print_funcs=0", "-rss_limit_mb=2560", "-artifact_prefix=/tmp/"]
    for line in (out / f"{target.name}.options").read_text().splitlines():
        if "=" in line:
            words.append("-" + line.replace(" ", ""))
    if (out / f"{target.name}.dict").exists():
        words.append(f"-dict={out / target.name}.dict")
    return words


def shut_away(command, read_only):
    """The command with those folders read-only and nothing in /dev, where that can be had."""
    if not can_hide_devices():
        return command
    steps = ["mount -t tmpfs none /dev"]
    for folder in read_only:
        steps += [f"mount --bind '{folder}' '{folder}'",
                  f"mount -o remount,ro,bind '{folder}'"]
    return ["unshare", "--mount", "sh", "-c", " && ".join([*steps, 'exec "$@"']), "sh", *command]


def run_target(target, out, build, seconds):
    """Faults in words, and figures."""
    with tempfile.TemporaryDirectory() as top:
        seeds, found, here = (Path(top, name) for name in ("seeds", "found", "here"))
        for folder in (seeds, found, here):
            folder.mkdir()
        with zipfile.ZipFile(out / f"{target.name}_seed_corpus.zip") as zipped:
            zipped.extractall(seeds)
        count = sum(seed.stat().st_size > 0 for seed in seeds.iterdir())  # It skips empty ones.
        command = command_of(target, out, build, seconds, seeds)
        if build != "stub":
            command += [found, seeds]
        settings = {"UBSAN_OPTIONS": "silence_unsigned_overflow=1:print_stacktrace=1",
                    "LLVM_PROFILE_FILE": str(Path(top, "profile"))}
        begun = time.monotonic()
        try:
            done = subprocess.run(list(map(str, shut_away(command, [out, seeds, here]))), cwd=here,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, env={**os.environ, **settings},
                                  timeout=seconds + 300, check=False)
        except subprocess.TimeoutExpired:
            return ["does not end"], {}
        took = time.monotonic() - begun
        said = done.stdout.decode(errors="replace")
        faults = [] if done.returncode == 0 else [f"exits with {done.returncode}: {last(said)}"]
        if build == "coverage" and not Path(top, "profile").exists():
            faults.append("left no profile")
    read = int((SEEDS.search(said) or REPLAYED.search(said) or [0, 0])[1])
    executed = int((EXECUTED.search(said) or REPLAYED.search(said) or [0, 0])[1])
    if read < count:
        faults.append(f"reads {read} of {count} seeds")
    if executed < count:
        faults.append(f"runs {executed} of {count} seeds")
    return faults, {"seeds": count, "executions": executed, "seconds": round(took, 1)}


def last(said):
    errors = [line for line in said.splitlines() if "ERROR" in line or "error:" in line]
    return (errors or said.strip().splitlines() or ["nothing said"])[0][:160]
