"""The seeded faults of the past: proptests/mutants/historic.toml."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from mutate_sites import Change, Site

TABLE = Path(__file__).resolve().parent.parent / "proptests/mutants/historic.toml"


@dataclass
class Fault:
    number: int
    name: str
    bugs: list
    what: str
    kills: list
    parts: list = field(default_factory=list)  # (file, Site)


def historic_sites(first, text_of):
    """The faults, numbered from `first`. Raises ValueError where an edit does not apply."""
    if not TABLE.exists():
        return []
    faults = []
    for place, entry in enumerate(tomllib.loads(TABLE.read_text())["fault"]):
        fault = Fault(first + place, entry["name"], entry["bugs"], entry["what"], entry["kills"])
        for edit in entry["edits"]:
            fault.parts.append((edit["file"], site_of(entry["name"], edit, text_of)))
        faults.append(fault)
    return faults


def site_of(name, edit, text_of):
    text, old = text_of(edit["file"]), edit["old"]
    after = edit.get("after", "")
    start = text.find(after) if after else 0
    begin = text.find(old, start) if start >= 0 else -1
    if begin < 0 or (not after and text.count(old) != 1):
        raise ValueError(f"{name}: in {edit['file']} stands {max(0, text.count(old))} times, "
                         f"not once: {old}")
    change = Change(begin, begin + len(old), edit["new"], edit.get("form", "expression"))
    return Site("historic", name, text.count("\n", 0, begin) + 1, old, edit["new"], [change])
