"""Builds and runs what rumur and murphi2c make of a model."""

import os
import re
import subprocess
import time
from dataclasses import dataclass

from model_steps import source
from model_text import TOP, Refused, without_symmetry

HOME = TOP / "build/model"
PROTOCOL = TOP / "invariants/protocol"
FIGURES = re.compile(r"^\s*([\d,]+) states, ([\d,]+) rules fired in (\d+)s", re.M)
WITHOUT_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass
class Explored:
    """`broken`: the name of what does not hold, or what else went wrong; none: all holds."""
    states: int = 0
    fired: int = 0
    seconds: float = 0.0
    broken: str = ""


def call(words, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise Refused(f"{' '.join(map(str, words))}\n{done.stderr.strip()}")
    return done.stdout


def folder(name):
    place = HOME / re.sub(r"\W+", "_", name)
    place.mkdir(parents=True, exist_ok=True)
    return place


def explore(name, text, fast=True):
    """Every state of a model, to the first in which something does not hold."""
    place = folder(name)
    (place / "model.m").write_text(text)
    call(["rumur", "--deadlock-detection", "off", "--scalarset-schedules", "off", "--threads",
          "1", "--counterexample-trace", "diff", "--color", "off", "-o", place / "checker.c",
          place / "model.m"])
    call(["cc", "-O2" if fast else "-O1", "-w", "-mcx16", place / "checker.c", "-o",
          place / "checker", "-lpthread", "-latomic"])
    started = time.monotonic()
    with open(place / "log", "w", encoding="utf-8") as log:
        done = subprocess.run([place / "checker"], stdout=log, stderr=log, check=False)
    said = WITHOUT_COLOUR.sub("", (place / "log").read_text())
    figures = FIGURES.search(said)
    explored = Explored(seconds=round(time.monotonic() - started, 1))
    if figures:
        explored.states, explored.fired = (int(figures[k].replace(",", "")) for k in (1, 2))
    if done.returncode != 0 or "No error found" not in said:
        error = re.search(r"error trace for the error:\n\s*(.*)", said)
        failed = re.search(r'invariant "?([^"\n]+?)"? failed', said)
        explored.broken = failed[1] if failed else error[1] if error else f"no word ({place}/log)"
    return explored


def compiler():
    return os.environ.get("CXX", "g++")


def build_conformance():
    place = folder("conformance") / "conformance.o"
    call([compiler(), "-std=c++17", "-O2", "-c", PROTOCOL / "conformance.cc", "-o", place])
    return place


def build_stepper(name, text, conformance):
    """A program that asks this model."""
    place = folder(name)
    (place / "model.m").write_text(without_symmetry(text))
    for kind, file in (("--header", "model.h"), ("--source", "model.c")):
        call(["murphi2c", kind, place / "model.m", "-o", place / file])
    (place / "steps.c").write_text(source(without_symmetry(text), (place / "model.h").read_text()))
    call(["cc", "-O1", "-w", "-c", "-I", PROTOCOL, "model.c", "steps.c"], cwd=place)
    call([compiler(), place / "model.o", place / "steps.o", conformance, "-o", place / "stepper"])
    return place / "stepper"


@dataclass
class Asked:
    """What a model says of transitions of the code."""
    transitions: int
    outside: int
    states: int
    strangers: int
    violations: int
    used: dict
    words: str


def ask(stepper, transitions, lines=3):
    """`lines`: how many strangers to tell of, or "first", to end at the first of them."""
    with open(transitions, encoding="utf-8") as lines_of_code:
        done = subprocess.run([stepper, str(lines)], stdin=lines_of_code, capture_output=True,
                              text=True, check=False)
    if done.returncode not in (0, 1):
        raise Refused(f"{stepper} < {transitions}\n{done.stderr}")
    figures = dict(re.findall(r"^(\w+) (\d+)$", done.stdout, re.M))
    used = {rule: int(count) for count, rule in re.findall(r"^rule (\d+) (.+)$", done.stdout, re.M)}
    return Asked(**{name: int(value) for name, value in figures.items()}, used=used,
                 words=done.stderr)
