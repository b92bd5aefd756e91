"""Reads of a Program (src/testing/README.md) what PyTorch's allocator can be asked to do.

A line that says anything else is refused by name: nothing is left out silently, but for
expectations, which are of the allocator that the Program was written for, and for threads: their
statements run one after another, and what a thread has of its own, a current device and a default
stream, is refused.
"""

import dataclasses
import fractions
import re

UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
OPERATIONS = {"gpu", "conf", "device", "stream", "alloc", "free", "use", "launch", "order",
              "advance", "sync", "empty_cache", "memory_fraction", "reconfigure", "next_segment"}
LEFT_OUT = {"expect", "expect_segment", "expect_block", "poll", "reset"}


class Unsupported(Exception):
    """A statement that PyTorch has nothing like."""


@dataclasses.dataclass
class Statement:
    line: int
    word: str
    arguments: list[str]
    options: dict[str, str]
    address: int | None = None  # Where a recorded allocation was.

    def settings(self) -> list[str]:
        """Of conf and reconfigure: each setting with its value."""
        return [item for item in re.split(r",(?![^\[]*\])", self.arguments[0]) if item]

    def text(self) -> str:
        options = [f"{name}={value}" if value else name for name, value in self.options.items()]
        return " ".join([self.word, *self.arguments, *options])


def bytes_of(text: str) -> int:
    match = re.fullmatch(r"([0-9.]+)(KiB|MiB|GiB)?", text)
    if not match:
        raise Unsupported(f"{text} is no size")
    value = fractions.Fraction(match[1]) * UNITS.get(match[2], 1)
    if value.denominator != 1:
        raise Unsupported(f"{text} is not a whole number of bytes")
    return int(value)


def of_any_thread(number: int, text: str) -> str:
    thread, rest = re.fullmatch(r"(T\d+:)?\s*(.*)", text).groups()
    if thread and re.match(r"(gpu|device)\b", rest):
        raise Unsupported(f"line {number}: the threads of PyTorch's side have one current device")
    return rest


def statement_of(number: int, text: str) -> Statement | None:
    text = of_any_thread(number, text)
    text = text.rsplit(" -> ", 1)[0].strip()
    address = re.search(r" = (0x[0-9a-f]+)$", text)
    word, *rest = text[:address.start()].split() if address else text.split()
    if word in LEFT_OUT:
        return None
    if word not in OPERATIONS:
        raise Unsupported(f"line {number}: PyTorch has nothing like {word}")
    if word in ("conf", "reconfigure"):
        return Statement(number, word, ["".join(rest)], {})
    arguments = [item for item in rest if "=" not in item]
    options = dict(item.split("=", 1) for item in rest if "=" in item)
    allowed = {"gpu": {"memory"}, "stream": {"gpu"}, "memory_fraction": {"gpu"}, "sync": {"gpu"}}
    for option in options.keys() - allowed.get(word, set()):
        raise Unsupported(f"line {number}: PyTorch has nothing like {word} {option}=")
    most = {"gpu": 1, "device": 1, "stream": 1, "alloc": 3, "free": 1, "use": 2, "launch": 3,
            "order": 2, "advance": 1, "sync": 1, "empty_cache": 0, "memory_fraction": 1,
            "next_segment": 1}[word]
    if len(arguments) > most:
        raise Unsupported(f"line {number}: PyTorch has nothing like {text}")
    if word == "free" and not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", arguments[0]):
        raise Unsupported(f"line {number}: PyTorch's tensors free by name alone")
    return Statement(number, word, arguments, options, int(address[1], 16) if address else None)


def read(text: str) -> list[Statement]:
    statements = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.split("#")[0].strip()
        statement = statement_of(number, line) if line else None
        if statement:
            statements.append(statement)
    return statements
