"""Corpora made small: the fewest inputs that reach what all of them reach."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from fuzz_targets import LOGS, Refused, environment

BY_HASH = re.compile(r"[0-9a-f]{40}")  # As libFuzzer names what it keeps.


def files_of(folder):
    return sorted(path for path in folder.glob("*") if path.is_file())


def size_of(folder):
    files = files_of(folder)
    return len(files), sum(path.stat().st_size for path in files)


def merged(target, kept, sources):
    """Adds to the folder `kept` what the sources reach beyond it."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{target.name}.merge.log"
    command = [target.binary("fuzz"), *target.options(), "-set_cover_merge=1", kept, *sources]
    with open(log, "wb") as out:
        result = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=out,
                                stderr=out, check=False, env=environment())
    if result.returncode != 0:
        raise Refused(f"{target.name}: the merge ended with {result.returncode}; see {log}")


def merge_one(target):
    seeds = Path("fuzz/corpus") / target.name
    seeds.mkdir(parents=True, exist_ok=True)
    target.found.mkdir(parents=True, exist_ok=True)
    before = (size_of(seeds), size_of(target.found))
    with tempfile.TemporaryDirectory(dir=target.found.parent) as scratch:
        kept = Path(scratch)
        for path in files_of(seeds):
            if not BY_HASH.fullmatch(path.name):
                shutil.copy(path, kept)
        named = {path.read_bytes() for path in files_of(kept)}
        merged(target, kept, [seeds, target.found])
        for path in files_of(kept):  # libFuzzer copies what it was given, under its hash.
            if BY_HASH.fullmatch(path.name) and path.read_bytes() in named:
                path.unlink()
        # Only now, with all of the new set at hand, does the old one change.
        for path in files_of(kept):
            shutil.copy(path, seeds)
        for path in files_of(seeds):
            if not (kept / path.name).exists():
                path.unlink()
    for path in files_of(target.found):
        path.unlink()
    after = size_of(seeds)
    print(f"{target.name}: {before[0][0]:,} seeds and {before[1][0]:,} found "
          f"({(before[0][1] + before[1][1]) / 1024:,.0f} KiB) -> {after[0]:,} in {seeds} "
          f"({after[1] / 1024:,.0f} KiB)", flush=True)


def merge(targets):
    for target in targets:
        merge_one(target)
    return 0
