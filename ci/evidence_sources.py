"""What a page of evidence is made of: the catalogue of promises in the tree, and the results that
the commands of ci left as JSON. Each value knows where it stands."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
CATALOGUE = Path("invariants/catalogue/catalogue.h")
PREDICATES = Path("invariants/README.md")
CHECKERS = Path("invariants/checkers")
LIMITS = Path("README.md")

ENTRY = re.compile(r'\bInvariant\s+\w+\s*\{\s*"([A-Z]\d+)",\s*Cost::(\w+),\s*((?:"[^"]*"\s*)+)\}')
LITERAL = re.compile(r'"([^"]*)"')
ROW = re.compile(r"^\| ([A-Z]\d+) \| \w+ \| (.*) \| (.*) \|$")
SABOTEUR = re.compile(r"\bTEST(?:_F)?\(\s*Saboteur\s*,\s*([A-Z]\d+)_(\w+)")


@dataclass(frozen=True)
class Made:
    """A result: the command that makes it, what it is about, and the figures that stand first, by
    their name and the pointer to them."""
    command: str
    title: str
    headline: dict = field(default_factory=dict)


# The order is that of the page.
RESULTS = {
    "fuzz": Made("ci/fuzz", "Fuzzing", {"operations fuzzed": "/all_campaigns/operations",
                                        "core hours": "/all_campaigns/core_hours"}),
    "faults": Made("ci/faults", "Failing driver calls",
                   {"driver faults": "/single_faults", "pairs of faults": "/pairs",
                    "probes hit": "/probes_hit"}),
    "exhaust": Made("ci/exhaust", "Small scopes, explored exhaustively",
                    {"states of the code": "/states", "scopes closed": "/scopes_closed"}),
    "schedules": Made("ci/schedules --tsan", "Schedules of host threads",
                      {"schedules of pairs": "/pairs_schedules"}),
    "mutate": Made("ci/mutate", "Mutants of the code",
                   {"mutants": "/mutants", "percent killed": "/score_percent"}),
    "historic": Made("ci/mutate", "Faults of other allocators",
                     {"faults of the past": "/faults", "killed by what they name":
                      "/killed_as_named"}),
    "model": Made("ci/model", "The formal model of a block's life",
                  {"states of the model": "/states"}),
    "determinism": Made("ci/determinism", "The same Program, the same log",
                        {"Programs logged": "/programs"}),
    "oss-fuzz": Made("ci/oss-fuzz", "The contract of OSS-Fuzz"),
    "coverage": Made("ci/fuzz --coverage", "Coverage"),
}


class Bad(Exception):
    """What cannot be read, and why."""


@dataclass
class Promise:
    id: str
    cost: str
    words: str
    predicate: str = ""
    checked_in: str = ""
    saboteurs: list = field(default_factory=list)


@dataclass(frozen=True)
class Value:
    """A value of a result, and the pointer to it (RFC 6901) within the file."""
    file: str
    pointer: str
    value: object

    def at(self, key):
        word = str(key).replace("~", "~0").replace("/", "~1")
        return Value(self.file, f"{self.pointer}/{word}", self.value[key])

    def get(self, key):
        """None where there is none."""
        known = isinstance(self.value, dict) and key in self.value
        return self.at(key) if known else None

    def follow(self, pointer):
        """What the pointer leads to from here; None where nothing is."""
        value = self
        for word in pointer.split("/")[1:]:
            value = value and value.get(word)
        return value

    def items(self):
        keys = range(len(self.value)) if isinstance(self.value, list) else self.value
        return [(key, self.at(key)) for key in keys]


def resolve(document, pointer):
    """What the pointer leads to. Raises KeyError, IndexError or ValueError where nothing is."""
    for word in pointer.split("/")[1:]:
        key = word.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def read_promises(top=TOP):
    """All promises of the catalogue, in its order, with predicate and saboteurs."""
    text = (top / CATALOGUE).read_text(encoding="utf-8")
    promises = {}
    for match in ENTRY.finditer(text):
        words = "".join(LITERAL.findall(match[3]))
        promises[match[1]] = Promise(match[1], match[2], words)
    for line in (top / PREDICATES).read_text(encoding="utf-8").splitlines():
        row = ROW.match(line)
        if row and row[1] in promises:
            promises[row[1]].predicate = row[2].replace("\\|", "|")
            promises[row[1]].checked_in = row[3].replace("`", "")
    for path in sorted((top / CHECKERS).glob("*_test.cc")):
        for match in SABOTEUR.finditer(path.read_text(encoding="utf-8")):
            if match[1] in promises:
                promises[match[1]].saboteurs.append(match[2])
    if not promises:
        raise Bad(f"{CATALOGUE}: no promise found in it")
    return list(promises.values())


def read_result(folder, name):
    """The result of that name, or None where it was not made. Raises Bad."""
    path = Path(folder) / f"{name}.json"
    if not path.is_file():
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as why:
        raise Bad(f"{path}: {why}") from why
    missing = [key for key in ("command", "revision", "seconds")
               if not isinstance(document, dict) or key not in document]
    if missing:
        raise Bad(f"{path}: has no {', '.join(missing)}")
    return Value(path.name, "", document)


def read_limits(top=TOP):
    """The limits that README.md tells, a paragraph each."""
    text = (top / LIMITS).read_text(encoding="utf-8")
    section = re.search(r"^## Limits\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    if section is None:
        raise Bad(f"{LIMITS}: no section of limits")
    items = re.split(r"^- ", section[1], flags=re.MULTILINE)[1:]
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)|`", lambda link: link[1] or "", item)
             for item in items]
    return [" ".join(item.split()) for item in plain]
