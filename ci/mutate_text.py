"""Puts many mutants into one text: each is there, behind a switch that is read at run time.

Each mutant begins a line of its own, so that what a compiler says of that line is said of it.
"""

import re
from collections import defaultdict

SWITCH = "::cairn::mutant"
HEAD = re.compile(r"::cairn::mutant\((\d+)\)")

HEADER = """// Made by ci/mutate. Which mutant runs is said by CAIRN_MUTANT.
#pragma once

#include <mutex>
#include <type_traits>

namespace cairn {
namespace mutation {
extern const unsigned active;
extern unsigned char reached[];
}  // namespace mutation

constexpr bool mutant(unsigned number) {
  if (std::is_constant_evaluated()) return false;
  __atomic_store_n(&mutation::reached[number], 1, __ATOMIC_RELAXED);
  return mutation::active == number;
}
}  // namespace cairn
"""

SOURCE = """// Made by ci/mutate.
#include "base/mutant.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace cairn::mutation {
namespace {

unsigned chosen() {
  const char* number = std::getenv("CAIRN_MUTANT");
  return number == nullptr ? 0 : static_cast<unsigned>(std::strtoul(number, nullptr, 10));
}

constexpr std::size_t page = 4096;

}  // namespace

alignas(page) unsigned char reached[(COUNT + page - 1) / page * page];

namespace {

// The file that CAIRN_MUTANT_REACHED names stands where `reached` is, so that what processes reach
// that are forked, or end at once, is in it too.
struct Reached {
  Reached() {
    if (chosen() == CANARY) std::abort();
    const char* path = std::getenv("CAIRN_MUTANT_REACHED");
    if (path == nullptr) return;
    static unsigned char before[sizeof reached];
    std::memcpy(before, reached, sizeof reached);
    const int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof reached) != 0 ||
        mmap(reached, sizeof reached, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
            MAP_FAILED)
      std::abort();
    close(file);
    for (std::size_t i = 0; i < sizeof reached; ++i) reached[i] |= before[i];
  }
} at_start;

}  // namespace

extern const unsigned active;
const unsigned active = chosen();
}  // namespace cairn::mutation
"""

# How base/guarded.h lets a lock be dropped, or let go too early.
GUARDED = [
    ("    Access(StateMutex& mutex, S& state) : lock_(mutex), state_(state) {}\n",
     "    Access(StateMutex& mutex, S& state) : lock_(mutex), state_(state) {}\n"
     "    Access(StateMutex& mutex, S& state, std::defer_lock_t defer)\n"
     "        : lock_(mutex, defer), state_(state) {}\n"
     "    void let_go() const {\n      if (lock_.owns_lock()) lock_.unlock();\n    }\n"),
    ("    std::lock_guard<StateMutex> lock_;\n",
     "    mutable std::unique_lock<StateMutex> lock_;\n"),
    ("    LaneAccess(Mutex* mutex, State& state) : mutex_(mutex), state_(state) {}\n",
     "    LaneAccess(Mutex* mutex, State& state) : mutex_(mutex), state_(state) {}\n"
     "    explicit LaneAccess(State& state) : mutex_(nullptr), is_open_(true), state_(state) {}\n"),
    ("    explicit operator bool() const { return mutex_ != nullptr; }\n",
     "    explicit operator bool() const { return is_open_ || mutex_ != nullptr; }\n"),
    ("    Mutex* const mutex_;\n", "    Mutex* const mutex_;\n    const bool is_open_ = false;\n"),
    ("  Access<State> lock() { return {mutex_, state_}; }\n",
     "  Access<State> lock() { return {mutex_, state_}; }\n"
     "  Access<State> unlocked() { return {mutex_, state_, std::defer_lock}; }\n"
     "  Access<const State> unlocked() const { return {mutex_, state_, std::defer_lock}; }\n"
     "  LaneAccess unlocked_lane(std::size_t) { return LaneAccess(state_); }\n"),
]


def replaced(text, pairs):
    for old, new in pairs:
        if text.count(old) != 1:
            raise ValueError(f"stands {text.count(old)} times, not once: {old.strip()}")
        text = text.replace(old, new)
    return text


class Node:
    def __init__(self, begin, end, form):
        self.begin, self.end, self.form = begin, end, form
        self.arms = []  # (number, new)
        self.children = []


def forest(changes, length):
    """The ranges as a tree; each node holds all mutants of its range."""
    nodes = {}
    for number, change in changes:
        key = (change.begin, change.end, change.form)
        nodes.setdefault(key, Node(*key)).arms.append((number, change.new))
    root = Node(0, length, "root")
    open_nodes = [root]
    order = sorted(nodes.values(), key=lambda n: (n.begin, n.begin != n.end, -n.end,
                                                  n.form != "statement"))
    for node in order:
        while open_nodes[-1].end < node.end or (open_nodes[-1].end <= node.begin
                                                and open_nodes[-1] is not root):
            open_nodes.pop()
        siblings = open_nodes[-1].children
        if siblings and siblings[-1].end > node.begin:
            raise ValueError(f"ranges cross at {node.begin}")
        open_nodes[-1].children.append(node)
        if node.begin != node.end:
            open_nodes.append(node)
    return root


def render(node, text):
    pieces, place = [], node.begin
    for child in node.children:
        pieces += [text[place:child.begin], render(child, text)]
        place = child.end
    body = "".join(pieces) + text[place:node.end]
    if node.form == "root":
        return body
    if node.form == "expression":
        # Else `false` may become a value, of an optional that is then there.
        if any(new.startswith("(bool(") for _, new in node.arms):
            body = f"bool({body})"
        arms = "".join(f"\n{SWITCH}({number}) ? ({new}) :" for number, new in node.arms)
        return f"({arms}\n({body}))"
    if node.form in ("insert", "text"):
        lines = [new.replace("MUTANT", f"{SWITCH}({number})") for number, new in node.arms]
        return "\n" + "\n".join(lines) + "\n"
    arms = "".join(f"\nif ({SWITCH}({number})) {{ {new} }} else" for number, new in node.arms)
    return f"{{{arms} {{\n{body}\n}}}}"


def mutated(text, numbered):
    """The text with all of these mutants: pairs of a number and a site."""
    changes = [(number, change) for number, site in numbered for change in site.changes]
    out = render(forest(changes, len(text)), text)
    place = out.index("#include") if "#include" in out else 0
    return out[:place] + '#include "base/mutant.h"\n' + out[place:]


def blamed(text, lines):
    """Which mutants stand on these lines; of a line without one, the last one before it."""
    by_line = defaultdict(list)
    for number, line in enumerate(text.splitlines(), 1):
        by_line[number] += [int(m) for m in HEAD.findall(line)]
    found = set()
    for line in lines:
        while line > 0 and not by_line[line]:
            line -= 1
        found |= set(by_line[line])
    return found
