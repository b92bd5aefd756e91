"""The finder, the switch and the checks of the files, on something small."""

import subprocess
import tempfile
from pathlib import Path

from mutate_engines import INVARIANT, Engine, Ran, judged
from mutate_report import faults_of
from mutate_run import names
from mutate_sites import Change, Site, sites_in
from mutate_text import blamed, mutated
from mutate_tree import Mutant

TEXT = """#include <mutex>
constexpr int limit = 7;
static_assert(limit > 6);
struct Guarded {
  int* lock();
  int* unlocked();
};
inline int sum(int a, int b) {
  int total = 0;
  if (a < b && b != 3) total += a;
  for (int i = 0; i < limit; ++i) total -= b;
  return total;
}
inline void note(int& seen, bool again) {
  seen = 2;
  while (again) {
    seen = seen * 2;
    break;
  }
}
inline int first(Guarded& guarded) { return *guarded.lock(); }
struct Held {
  int value() const;
  void let_go() const;
};
struct Keeper {
  Held lock();
  Held unlocked();
};
inline int second(Keeper& keep) {
  const auto held = keep.lock();
  const int before = held.value();
  return before + held.value();
}
"""

EXPECTED = """
sum: always: a < b && b != 3 -> (bool(a < b && b != 3), true)
sum: arithmetic: total += a -> total -= a
sum: arithmetic: total -= b -> total += b
sum: bound: limit -> static_cast<int>(limit + 1)
sum: bound: limit -> static_cast<int>(limit - 1)
sum: condition dropped: a < b && b != 3 -> bool(a < b)
sum: condition dropped: a < b && b != 3 -> bool(b != 3)
sum: constant: 0 -> static_cast<int>(1)
sum: constant: 0 -> static_cast<int>(1)
sum: constant: 3 -> static_cast<int>(2)
sum: constant: 3 -> static_cast<int>(4)
sum: logic: a < b && b != 3 -> bool(a < b) || bool(b != 3)
sum: never: a < b && b != 3 -> (bool(a < b && b != 3), false)
sum: never: i < limit -> (bool(i < limit), false)
sum: relation: a < b -> a <= b
sum: relation: b != 3 -> b == 3
sum: relation: i < limit -> i <= limit
sum: statement deleted: total += a -> 
sum: statement deleted: total -= b -> 
note: arithmetic: seen * 2 -> seen / 2
note: constant: 2 -> static_cast<int>(1)
note: constant: 2 -> static_cast<int>(1)
note: constant: 2 -> static_cast<int>(3)
note: constant: 2 -> static_cast<int>(3)
note: never: again -> (bool(again), false)
note: statement deleted: break -> 
note: statement deleted: seen = 2 -> 
note: statement deleted: seen = seen * 2 -> 
first: lock dropped: guarded.lock() -> guarded.unlocked()
second: arithmetic: before + held.value() -> before - held.value()
second: lock dropped: keep.lock() -> keep.unlocked()
second: lock narrowed: const auto held = keep.lock(); -> held.let_go();
"""

MAIN = """
#include <cstdio>
#include <cstdlib>
namespace cairn {
static int active = 0;
inline bool mutant(int number) { return number == active; }
}
%s
int* Guarded::lock() { static int x = 1; return &x; }
static int kept = 0;
int Held::value() const { return kept; }
void Held::let_go() const { kept = 4; }
Held Keeper::lock() { return kept = 3, Held{}; }
Held Keeper::unlocked() { return kept = 7, Held{}; }
int* Guarded::unlocked() { static int x = 2; return &x; }
int main(int, char** words) {
  ::cairn::active = std::atoi(words[1]);
  for (int a = 0; a < 5; ++a) {
    for (int b = 0; b < 5; ++b) std::printf("%%d ", sum(a, b));
  }
  int seen = 0;
  note(seen, true);
  Guarded guarded;
  Keeper keeper;
  std::printf("%%d %%d %%d", seen, first(guarded), second(keeper));
}
"""


def self_test(say):
    wrong = list(faults())
    for fault in wrong:
        say(f"self-test: {fault}")
    say("self-test: " + (f"{len(wrong)} faults" if wrong else "fine"))
    return 1 if wrong else 0


def faults():
    sites = sites_in("src/heap/self_test.cc", TEXT)
    found = sorted(f"{s.function}: {s.operator}: {s.old} -> {s.new}" for s in sites)
    wanted = sorted(line for line in EXPECTED.splitlines() if line)
    yield from (f"not found: {line}" for line in sorted(set(wanted) - set(found)))
    yield from (f"found, and should not be: {line}" for line in sorted(set(found) - set(wanted)))
    if len(found) != len(wanted):
        yield f"{len(found)} mutants, not {len(wanted)}"
    yield from faults_of_switch(sites)
    yield from faults_of_files(sites)
    yield from faults_of_verdicts()


def faults_of_switch(sites):
    """Without a mutant the program is as it was; each mutant changes what it does."""
    numbered = [(1 + n, site) for n, site in enumerate(sites)]
    text = mutated(TEXT, numbered).replace('#include "base/mutant.h"\n', "")
    line = next(n for n, words in enumerate(text.splitlines(), 1) if "mutant(3)" in words)
    if blamed(text, [line]) != {3}:
        yield "the wrong mutant is blamed for a line"
    with tempfile.TemporaryDirectory() as folder:
        ran = []
        for name, body in (("plain", TEXT), ("mutants", text)):
            source, program = Path(folder) / f"{name}.cc", Path(folder) / name
            source.write_text(MAIN % body)
            done = subprocess.run(["g++", "-std=c++20", "-w", "-ftrapv", str(source), "-o",
                                   str(program)], capture_output=True, text=True, check=False)
            if done.returncode:
                yield f"does not compile: {done.stderr[:1000]}"
                return
            ran.append(program)
        plain = output_of(ran[0], 0)
        if output_of(ran[1], 0) != plain:
            yield "without a mutant it does something else"
        for number, site in numbered:
            if output_of(ran[1], number) == plain:
                yield f"changes nothing: {site.function}: {site.operator}: {site.old} -> {site.new}"


def output_of(program, number):
    try:
        return subprocess.run([str(program), str(number)], capture_output=True, timeout=2,
                              check=False).stdout
    except subprocess.TimeoutExpired:
        return b"endless"


def faults_of_files(sites):
    mutants = [Mutant(n, f"id{n}", "src/heap/self_test.cc", site) for n, site in enumerate(sites)]
    change = f"{sites[0].function}: {sites[0].operator}: {sites[0].old} -> {sites[0].new}"
    good = {"id": "id0", "file": "src/heap/self_test.cc", "change": change, "why": "It is so."}
    if list(faults_of({"id0": good}, mutants)):
        yield "an argument that is right is refused"
    for name, entry in (("gone", {**good}), ("id0", {**good, "why": " "}),
                        ("id0", {**good, "change": "another"})):
        if not list(faults_of({name: entry}, mutants)):
            yield f"an argument that is wrong is taken: {name} {entry}"
    if not list(faults_of({"id0": good}, mutants[:10])):
        yield "more than 5 % may be explained"
    crossing = [Site("a", "f", 1, "", "", [Change(0, 5, "x")]),
                Site("a", "f", 1, "", "", [Change(3, 9, "y")])]
    try:
        mutated("#include <a>", list(enumerate(crossing)))
        yield "ranges that cross are taken"
    except ValueError:
        pass


def faults_of_verdicts():
    engine = Engine("some", "program", "*")
    told = (("cairn: invariant violated: B4 (A block has) x", -6, "killed by invariant", "B4"),
            ("found: S1: Blocks tile\n[  FAILED  ] A.B", 1, "killed by invariant", "S1"),
            ("x\n[  FAILED  ] Suite.Name (3 ms)", 1, "killed by test", "Suite.Name"),
            ("/usr/include/array:7: cairn::T& f() [_Nm = 2]: Assertion '__n < 2' failed.", -6,
             "killed by oracle", "libstdc++: __n < 2"),
            ("", -11, "crashed", "SIGSEGV"))
    for output, status, result, by in told:
        verdict = judged(engine, Ran(status, 1.0, False, output), {"B4", "S1"})
        if (verdict.result, verdict.by) != (result, by):
            yield f"{output!r} is taken for {verdict.result} by {verdict.by}"
    if judged(engine, Ran(-9, 9.0, True), set()).result != "timed out":
        yield "what ran out of time is taken for something else"
    if not names("x B4: words", "B4") or names("x B41: words", "B4") or INVARIANT.search("B4x"):
        yield "the name of an invariant is read wrong"
