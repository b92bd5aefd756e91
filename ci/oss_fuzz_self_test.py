"""Each rule of oss_fuzz_contract.py broken in a copy of the tree, and seen."""

import shutil
import tempfile
from pathlib import Path

from oss_fuzz_contract import broken_rules

COPIED = (".clusterfuzzlite", ".github", "fuzz")
# File, what stands there, what stands there instead (None: the file goes), what is then said.
BREAKS = [
    ("fuzz/heap_fuzzer.options", "", None, "heap_fuzzer.options: not there"),
    ("fuzz/log_fuzzer.options", "max_len = 16384", "max_len = big", "no number max_len"),
    ("fuzz/log_fuzzer.options", "[libfuzzer]", "[fuzz]", "no number len_control"),
    ("fuzz/corpus/settings_fuzzer", "", None, "settings_fuzzer: no seeds"),
    ("fuzz/settings_fuzzer.cc", "", None, "settings_fuzzer.dict: of no target"),
    ("fuzz/log_fuzzer.dict", '"alloc"', "alloc", "no entry: alloc"),
    (".clusterfuzzlite/project.yaml", "c++", "c", "language is not c++"),
    (".clusterfuzzlite/Dockerfile", "base-builder", "base-runner", "not from the base-builder"),
    ("fuzz/oss-fuzz/Dockerfile", "build.sh $SRC/", "build.sh /", "not copied to $SRC"),
    (".clusterfuzzlite/build.sh", "$LIB_FUZZING_ENGINE", "$ENGINE", "LIB_FUZZING_ENGINE"),
    (".clusterfuzzlite/build.sh", "-DCAIRN_TOOL", "-march=native -DCAIRN_TOOL", "-march="),
    (".clusterfuzzlite/build.sh", "-DCAIRN_TOOL", "-fsanitize=fuzzer -D", "-fsanitize="),
    (".github/workflows/cflite_cron.yml", "mode: prune", "mode: batch", "no run of mode prune"),
    (".github/workflows/cflite_pr.yml", "fuzz-seconds", "fuzz-second", "given fuzz-second"),
    (".github/workflows/cflite_pr.yml", "      - name: Run", " - name: Run", "block mapping"),
]


def said_after(top, file, before, after):
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            shutil.copytree(top / name, copy / name, ignore=shutil.ignore_patterns("corpus"))
        for corpus in (top / "fuzz" / "corpus").iterdir():
            (copy / "fuzz" / "corpus" / corpus.name).mkdir(parents=True)
            (copy / "fuzz" / "corpus" / corpus.name / "seed").touch()
        place = copy / file
        if after is not None:
            text = place.read_text()
            place.write_text(text.replace(before, after) if before in text else "")
        elif place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()
        return broken_rules(copy)


def self_test(top):
    """What is overlooked, in words."""
    overlooked = [f"{file}: overlooked: {what}" for file, before, after, what in BREAKS
                  if not any(what in line for line in said_after(top, file, before, after))]
    print("\n".join(overlooked + [f"oss-fuzz self-test: {len(BREAKS)} cases, "
                                  f"{len(overlooked)} failed"]))
    return 1 if overlooked else 0
