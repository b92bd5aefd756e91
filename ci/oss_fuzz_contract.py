"""What OSS-Fuzz and ClusterFuzzLite ask for, as rules of the tree that need no build."""

import configparser
import re
from pathlib import Path

from fuzz_targets import Refused

MODES = {"code-change", "batch", "prune", "coverage"}
ACTION = "google/clusterfuzzlite/actions/"
STORAGE = {"storage-repo", "storage-repo-branch", "storage-repo-branch-coverage"}
INPUTS = {  # Of the actions, those that are used here.
    "build_fuzzers": {"language", "sanitizer", "github-token", "upload-build"} | STORAGE,
    "run_fuzzers": {"language", "sanitizer", "github-token", "fuzz-seconds", "mode",
                    "output-sarif", "parallel-fuzzing"} | STORAGE}
DICTIONARY_LINE = re.compile(r'\s*(#.*|([A-Za-z0-9_]+(@\d+)?\s*=\s*)?"(\\.|[^"\\])+"\s*)?')


def broken_rules(top):
    """Each in words, with the file."""
    found = []
    for rule in (targets, dictionaries, project, workflows):
        found += rule(top)
    return found


def targets(top):
    for source in sorted((top / "fuzz").glob("*_fuzzer.cc")):
        name = source.stem
        seeds = top / "fuzz" / "corpus" / name
        if not seeds.is_dir() or not any(seeds.iterdir()):
            yield f"fuzz/corpus/{name}: no seeds"
        options = configparser.ConfigParser()
        try:
            if not options.read(source.with_suffix(".options")):
                yield f"fuzz/{name}.options: not there"
                continue
        except configparser.Error as error:
            yield f"fuzz/{name}.options: {error}"
            continue
        settings = options["libfuzzer"] if "libfuzzer" in options else {}
        for key in ("max_len", "len_control", "timeout"):
            if not settings.get(key, "").isdecimal():
                yield f"fuzz/{name}.options: no number {key} in [libfuzzer]"


def dictionaries(top):
    for file in sorted((top / "fuzz").glob("*.dict")):
        if not file.with_suffix(".cc").exists():
            yield f"fuzz/{file.name}: of no target"
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if not DICTIONARY_LINE.fullmatch(line):
                yield f"fuzz/{file.name}:{number}: no entry: {line[:40]}"


def read_yaml(file):
    try:
        import yaml  # Here, since --help is to be had without it. pylint: disable=C0415
    except ImportError as error:
        raise Refused("python3-yaml is not installed (ci/setup)") from error
    try:
        read = yaml.safe_load(file.read_text())
        return read if isinstance(read, dict) else {"unreadable": "no mapping of keys"}
    except (OSError, yaml.YAMLError) as error:
        return {"unreadable": str(error).split("\n", maxsplit=1)[0]}


def project(top):
    for folder in (top / ".clusterfuzzlite", top / "fuzz" / "oss-fuzz"):
        name = folder.relative_to(top)
        if read_yaml(folder / "project.yaml").get("language") != "c++":
            yield f"{name}/project.yaml: language is not c++"
        words = (folder / "Dockerfile").read_text() if (folder / "Dockerfile").exists() else ""
        if not re.search(r"^FROM gcr\.io/oss-fuzz-base/base-builder", words, re.MULTILINE):
            yield f"{name}/Dockerfile: not from the base-builder"
        if not re.search(r"build\.sh \$SRC/$", words, re.MULTILINE):
            yield f"{name}/Dockerfile: build.sh is not copied to $SRC"
    script = top / ".clusterfuzzlite" / "build.sh"
    text = script.read_text() if script.exists() else ""
    for name in ("$CC", "$CXX", "$CFLAGS", "$CXXFLAGS", "$LIB_FUZZING_ENGINE", "$OUT", "$WORK"):
        if name not in text:
            yield f".clusterfuzzlite/build.sh: does not use {name}"
    for word in ("-march=", "-fsanitize="):
        if word in text:
            yield f".clusterfuzzlite/build.sh: brings a flag of its own, {word}"


def steps_of(workflow):
    for job in (workflow.get("jobs") or {}).values():
        yield from job.get("steps") or []


def workflows(top):
    modes = set()
    for file in sorted(Path(top, ".github", "workflows").glob("*.yml")):
        name = file.relative_to(top)
        workflow = read_yaml(file)
        if "unreadable" in workflow:
            yield f"{name}: {workflow['unreadable']}"
            continue
        for step in steps_of(workflow):
            uses, given = step.get("uses", ""), step.get("with") or {}
            if not uses.startswith(ACTION):
                continue
            action, _, version = uses[len(ACTION):].partition("@")
            if version != "v1":
                yield f"{name}: {action} of version {version or 'unknown'}, not v1"
            for key in sorted(set(given) - INPUTS.get(action, set())):
                yield f"{name}: {action} is given {key}"
            if given.get("mode"):
                modes.add(given["mode"])
    for mode in sorted(MODES - modes):
        yield f".github/workflows: no run of mode {mode}"
