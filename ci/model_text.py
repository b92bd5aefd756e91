"""The Murphi model as text: its constants, rules and invariants, and the model with one of them
changed."""

import re
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
MODEL = TOP / "invariants/protocol/block_life.m"
RULE = re.compile(r'^rule "([^"]+)"\n.*?^end;\n', re.M | re.S)
INVARIANT = re.compile(r'^invariant "([^":]+): ([^"]+)"\n.*?;\n', re.M | re.S)
EMPTY_RULESET = re.compile(r"^ruleset [^\n]* do\n(\s|--[^\n]*\n)*end;\n", re.M)


class Refused(Exception):
    """What cannot be done, in words."""


def with_constants(text, constants):
    for name, value in constants.items():
        text, count = re.subn(rf"^(  {name}: )[^;]+;", rf"\g<1>{value};", text, count=1, flags=re.M)
        if count != 1:
            raise Refused(f"the model has no constant {name}")
    return text


def constants_of(text):
    """Their values, by name."""
    values = {}
    section = text[text.index("\nconst\n"):text.index("\ntype\n")]
    for name, value in re.findall(r"^  (\w+): ([^;]+);", section, re.M):
        values[name] = int(eval(value, {}, values))  # pylint: disable=eval-used
    return values


def bounds_of(text):
    """First and last value of each type that is a range or a scalarset, by its name."""
    constants = constants_of(text)

    def number(words):
        return int(eval(words, {}, constants))  # pylint: disable=eval-used

    bounds = {name: (0, number(size) - 1)
              for name, size in re.findall(r"^  (\w+): scalarset\((\w+)\);", text, re.M)}
    ranges = re.findall(r"^  ([A-Z]\w+): ([^;.]+)\.\.([^;]+);", text, re.M)
    bounds |= {name: (number(low), number(high)) for name, low, high in ranges}
    return bounds


def rules_of(text):
    return [match[1] for match in RULE.finditer(text)]


def invariants_of(text):
    """Pairs of an id and the words behind it."""
    return [(match[1], match[2]) for match in INVARIANT.finditer(text)]


def variables_of(text):
    section = text[text.index("\nvar\n"):text.index("-- ---- what is so ----")]
    return re.findall(r"^  (\w+): ", section, re.M)


def without_rule(text, rule):
    found = [match for match in RULE.finditer(text) if match[1] == rule]
    if len(found) != 1:
        raise Refused(f"the model has {len(found)} rules {rule}")
    shorter = text[:found[0].start()] + text[found[0].end():]
    return EMPTY_RULESET.sub("", shorter)


def with_invariant_alone(text, kept):
    return INVARIANT.sub(lambda match: match[0] if match[1] == kept else "", text)


def replaced(text, old, new):
    if text.count(old) != 1:
        raise Refused(f"stands {text.count(old)} times in the model, and must once:\n{old}")
    return text.replace(old, new)


def without_symmetry(text):
    """Scalarsets as ranges: loops of murphi2c 2022.08.20 take one step too many over scalarsets."""
    return re.sub(r"scalarset\((\w+)\)", r"0..\1 - 1", text)


def in_c(name):
    """As murphi2c writes the name of a rule or an invariant."""
    return re.sub(r"[^A-Za-z0-9]", "_", name)
