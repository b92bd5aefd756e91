"""The tree with all mutants in it: build/mutants, a copy of this one in which the files of src/heap
and src/allocator are mutated, and its build."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mutate_engines import BUILD, BUILD_THREADS, TREE, targets
from mutate_historic import historic_sites
from mutate_sites import Change, Site, sites_in
from mutate_text import GUARDED, HEADER, SOURCE, blamed, mutated, replaced

TOP = Path(__file__).resolve().parent.parent
FOLDERS = ("src/heap", "src/allocator")
PER_FILE = 600  # Numbers of a file's mutants, so that a change of one file leaves others alone.
CANARY = 1  # Aborts at once.
ERROR = re.compile(r"^(?:\.\./)*([\w./-]+?):(\d+):\d+: (?:fatal )?error:", re.MULTILINE)
MENTIONED = re.compile(r"^(?:\.\./)*([\w./-]+?):(\d+):\d+:   required from", re.MULTILINE)


class Broken(Exception):
    """Something that must work did not."""


@dataclass
class Mutant:
    number: int
    id: str
    file: str
    site: Site

    def told(self):
        site = self.site
        return f"{self.file}:{site.line} {site.function}: {site.operator}: {site.old} -> {site.new}"


def is_core(name):
    own = name.endswith((".h", ".cc")) and not name.endswith("_test.cc")
    in_tests = name.endswith("_in_test.h") or re.search(r"(counting|scripted)_driver\.h$", name)
    return own and not in_tests and name.startswith(tuple(f + "/" for f in FOLDERS))


def listed():
    """All files of the repository, tracked or new."""
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, text=True,
                         stdout=subprocess.PIPE, check=True).stdout
    return sorted(name for name in out.splitlines() if (TOP / name).is_file())


def core_files():
    return [name for name in listed() if is_core(name)]


def text_of(name):
    return (TOP / name).read_text(encoding="latin1")


def write(path, text):
    """Leaves alone what is the same already, so that it is not built again."""
    data = text if isinstance(text, bytes) else text.encode("latin1")
    if path.exists() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def cached_sites(job):
    """The sites of a file, of a cache where neither headers nor the finder changed."""
    name, key = job
    store = TREE / "cache" / (name.replace("/", ".") + ".json")
    if store.exists():
        kept = json.loads(store.read_text())
        if kept["key"] == key:
            return [Site(**{**site, "changes": [Change(**c) for c in site["changes"]]})
                    for site in kept["sites"]]
    os.chdir(TOP)
    sites = sites_in(name, text_of(name))
    plain = [{**vars(site), "changes": [vars(c) for c in site.changes]} for site in sites]
    write(store, json.dumps({"key": key, "sites": plain}))
    return sites


def digest(*texts):
    return hashlib.sha1("\0".join(texts).encode("utf-8", "replace")).hexdigest()


def identified(name, index, sites):
    """Mutants with ids that stay the same as long as the function's text there does."""
    seen, mutants = {}, []
    for place, site in enumerate(sites):
        key = (name, site.function, site.operator, site.old, site.new)
        seen[key] = seen.get(key, 0) + 1
        number = 100 + index * PER_FILE + place
        mutants.append(Mutant(number, digest(*key, str(seen[key]))[:10], name, site))
    if len(mutants) > PER_FILE:
        raise Broken(f"{name} has {len(mutants)} mutants, above {PER_FILE}")
    return mutants


class Tree:
    """All mutants of this version, and the copy they are in. `report` is told of each step."""

    def __init__(self, report=print):
        self.report = report
        self.files = core_files()
        self.mutants = []
        self.historic = []
        self.unborn_store = TREE / "unborn.json"
        self.unborn = set()  # Ids of what does not compile.
        if self.unborn_store.exists():
            self.unborn = set(json.loads(self.unborn_store.read_text()))

    def find(self):
        headers = "".join(text_of(f) for f in self.files if f.endswith(".h"))
        finder = Path(__file__).with_name("mutate_sites.py").read_text()
        jobs = [(name, digest(text_of(name), headers, finder)) for name in self.files]
        (TREE / "cache").mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(min(4, len(os.sched_getaffinity(0)))) as pool:
            found = list(pool.map(cached_sites, jobs))
        for index, (name, sites) in enumerate(zip(self.files, found)):
            self.mutants += identified(name, index, sites)
        first = 100 + len(self.files) * PER_FILE
        self.historic = historic_sites(first, text_of)
        return self

    def born(self):
        return [m for m in self.mutants if m.id not in self.unborn]

    def count(self):
        return 100 + len(self.files) * PER_FILE + 200

    # ---- the copy ----

    def texts_of(self, mutants):
        """The mutated text of each file that has any."""
        by_file = {name: [] for name in self.files}
        for mutant in mutants:
            by_file[mutant.file].append((mutant.number, mutant.site))
        for fault in self.historic:
            for name, site in fault.parts:
                by_file.setdefault(name, []).append((fault.number, site))
        return {name: mutated(text_of(name), numbered)
                for name, numbered in by_file.items() if numbered}

    def write_core(self):
        texts = self.texts_of(self.born())
        for name, text in texts.items():
            write(TREE / name, text)
        return texts

    def write_all(self):
        """The whole copy; what is no file of this version any more goes."""
        wanted = set(listed())
        texts = self.texts_of(self.born())
        for name in wanted:
            if name in texts or name == "src/base/guarded.h":
                continue
            write(TREE / name, (TOP / name).read_bytes())
            shutil.copymode(TOP / name, TREE / name)
        for name, text in texts.items():
            write(TREE / name, text)
        write(TREE / "src/base/guarded.h", replaced(text_of("src/base/guarded.h"), GUARDED))
        write(TREE / "src/base/mutant.h", HEADER)
        numbers = f"#define COUNT {self.count()}\n#define CANARY {CANARY}\n"
        place = SOURCE.index("namespace cairn")
        write(TREE / "src/base/mutant.cc", SOURCE[:place] + numbers + SOURCE[place:])
        wanted |= {"src/base/mutant.h", "src/base/mutant.cc"}
        for folder in ("src", "invariants", "proptests", "fuzz", "bench", "ci"):
            for path in (TREE / folder).rglob("*"):
                if path.is_file() and str(path.relative_to(TREE)) not in wanted:
                    path.unlink()
        return texts

    def drop(self, output, texts):
        """Takes out the mutants that a compiler's words are about. Gives how many they are."""
        lines = {}
        for name, line in ERROR.findall(output) + MENTIONED.findall(output):
            lines.setdefault(name, set()).add(int(line))
        gone = set()
        by_number = {m.number: m for m in self.mutants}
        for name, numbers in lines.items():
            name = name.split("build/mutants/")[-1]
            if name in texts:
                gone |= {by_number[n].id for n in blamed(texts[name], numbers) if n in by_number}
        gone -= self.unborn
        self.unborn |= gone
        write(self.unborn_store, json.dumps(sorted(self.unborn)))
        return len(gone)

    def compile_check(self):
        """Takes out what does not compile, file by file."""
        texts = self.write_all()
        left = [name for name in texts]
        while left:
            self.report(f"compiling {len(left)} files, without code")
            with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
                outputs = list(pool.map(syntax_only, left))
            dropped = sum(self.drop(output, texts) for output in outputs)
            failed = [name for name, output in zip(left, outputs) if output]
            if failed and not dropped:
                raise Broken("does not compile, and no mutant is to blame:\n" +
                             "".join(outputs)[:2000])
            self.report(f"{dropped} mutants do not compile")
            texts = self.write_core()
            left = failed

    def stamp(self):
        """Of which mutants a build is, by number and id."""
        return digest(*(f"{m.number} {m.id}" for m in self.mutants),
                      *(f"{f.number} {f.name}" for f in self.historic))

    def expect_built(self):
        built = TREE / "built"
        if not built.exists() or built.read_text() != self.stamp():
            raise Broken("build/mutants is of another version; run without --no-build")

    def build(self):
        """Both builds: the one of all engines, and that of threads."""
        self.build_one(BUILD, targets(False), [])
        self.build_one(BUILD_THREADS, targets(True),
                       ["-DCAIRN_INVARIANTS=constant", "-DCAIRN_SANITIZE=thread"])
        write(TREE / "built", self.stamp())

    def build_one(self, folder, programs, settings):
        texts = self.write_all()
        configure(folder, settings)
        while True:
            jobs = os.environ.get("CAIRN_JOBS", str(len(os.sched_getaffinity(0))))
            log = folder / "build.log"
            with open(log, "w", encoding="utf-8") as out:
                done = subprocess.run(["cmake", "--build", str(folder), "--parallel", jobs,
                                       "--target", *programs, "--", "-k", "0"], cwd=TOP,
                                      stdout=out, stderr=subprocess.STDOUT, check=False)
            if done.returncode == 0:
                return
            if not self.drop(log.read_text(), texts):
                raise Broken(f"the mutants do not build: {log}")
            self.report("some mutants do not compile; once more without them")
            texts = self.write_core()


def syntax_only(name):
    """What g++ says against a file of the copy; empty where nothing."""
    language = ["-xc++"] if name.endswith(".h") else []
    done = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-w",
                           "-fno-diagnostics-show-caret", "-Isrc", "-I.",
                           "-DCAIRN_INVARIANT_LEVEL=3", *language, name],
                          cwd=TREE, text=True, stderr=subprocess.PIPE, check=False)
    return done.stderr if done.returncode else ""


def configure(folder, settings):
    command = ["cmake", "-S", str(TREE), "-B", str(folder), "-G", "Ninja", "--log-level=NOTICE",
               "-DCMAKE_CXX_COMPILER=g++", "-DCAIRN_TOOL=ON", "-DCAIRN_DEVELOPER=ON",
               "-DCAIRN_CUDA=OFF", "-DCAIRN_INVARIANTS=heap", "-DCMAKE_BUILD_TYPE=Checked",
               "-DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS",
               "-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF", *settings]
    if subprocess.run(["which", "ccache"], stdout=subprocess.DEVNULL, check=False).returncode == 0:
        command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    if done.returncode:
        raise Broken(done.stdout[-2000:])
