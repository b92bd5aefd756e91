"""Which driver calls PyTorch and Cairn made at each statement, and in what they differ.

A call is the text that `cairn run --calls` and the simulated libcuda have for it. Streams and
events are numbers of two machines: a stream of one side stands for one of the other, events for
none.
"""

import ctypes
import dataclasses
import re

# Of these both make the same, in the same order. What is not here, and why: README.md.
MEMORY = {"malloc", "free"}
EVENTS = {"event_record", "event_query", "event_sync"}


class Machine:
    """The simulated libcuda that PyTorch runs on."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.cuda.cairn_sim_take_calls.restype = ctypes.c_size_t

    def take_calls(self) -> list[str]:
        """The driver's calls since the last time."""
        none = ctypes.c_char_p(None)
        text = ctypes.create_string_buffer(self.cuda.cairn_sim_take_calls(none, 0) or 1)
        self.cuda.cairn_sim_take_calls(text, ctypes.c_size_t(len(text)))
        return text.value.decode().splitlines()

    def launch(self, stream: int, ticks: int) -> bool:
        return self.cuda.cairn_sim_launch(ctypes.c_void_p(stream), ctypes.c_ulonglong(ticks)) == 0

    def advance(self, ticks: int) -> None:
        self.cuda.cairn_sim_advance(ctypes.c_ulonglong(ticks))

    def next_address(self, device: int, address: int) -> bool:
        return self.cuda.cairn_sim_next_address(device, ctypes.c_ulonglong(address)) == 0


def kind_of(call: str) -> str:
    return call.split(" ", 1)[0]


def stream_of(call: str) -> str | None:
    found = re.search(r" stream=(0x[0-9a-f]+)", call)
    return found[1] if found else None


@dataclasses.dataclass
class Difference:
    line: int
    pytorch: list[str]
    cairn: list[str]


class Pairing:
    """Which stream of Cairn's machine each stream of PyTorch's is."""

    def __init__(self):
        self.pairs: dict[str, str] = {}

    def same(self, one: str, other: str) -> bool:
        """Whether both are the same call, but for numbers that differ between the machines."""
        of_one, of_other = stream_of(one), stream_of(other)
        if of_one is not None and of_other is not None:
            known = self.pairs.setdefault(of_one, of_other)
            if known != of_other or list(self.pairs.values()).count(of_other) != 1:
                return False
        return self.bare(one) == self.bare(other)

    @staticmethod
    def bare(call: str) -> str:
        return re.sub(r" (stream|event)=0x[0-9a-f]+", "", call)


def difference(pytorch: list[list], cairn: list[list], until: int,
               kinds: set[str]) -> Difference | None:
    """The first statement before the line `until` at which the calls of these kinds differ."""
    pairing = Pairing()
    sides = []
    for calls in (pytorch, cairn):
        by_line: dict[int, list[str]] = {}
        for line, call in calls:
            if line < until and kind_of(call) in kinds:
                by_line.setdefault(line, []).append(call)
        sides.append(by_line)
    for line in sorted(sides[0].keys() | sides[1].keys()):
        one, other = sides[0].get(line, []), sides[1].get(line, [])
        if len(one) != len(other) or not all(map(pairing.same, one, other)):
            return Difference(line, one, other)
    return None
