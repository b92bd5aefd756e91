"""Which driver calls PyTorch and Cairn made at each statement, and in what they differ.

A call is the text that `cairn run --calls` and the simulated libcuda have for it. Streams and
events are numbers of two machines: a stream of one side stands for one of the other, events for
none.
"""

import collections
import dataclasses
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "src/simulator/libcuda"))
import simulated_cuda  # noqa: E402

# Of these both make the same, in the same order. What is not here, and why: README.md.
MEMORY = {"malloc", "free"}
EVENTS = {"event_record", "event_query", "event_sync"}


class Machine:
    """The simulated libcuda that PyTorch runs on."""

    def take_calls(self) -> list[str]:
        """The driver's calls since the last time."""
        return simulated_cuda.take_calls()

    def launch(self, stream: int, ticks: int) -> bool:
        return simulated_cuda.launch(stream, ticks) == 0

    def advance(self, ticks: int) -> None:
        simulated_cuda.advance(ticks)

    def next_address(self, device: int, address: int) -> bool:
        return simulated_cuda.next_address(device, address) == 0


def kind_of(call: str) -> str:
    return call.split(" ", 1)[0]


def stream_of(call: str) -> str | None:
    """Its handle and its device, for default streams of all devices have one handle."""
    stream = re.search(r" stream=(0x[0-9a-f]+)", call)
    device = re.search(r" device=([0-9]+)", call)
    return f"{stream[1]} of {device[1]}" if stream and device else None


@dataclasses.dataclass
class Difference:
    line: int
    pytorch: list[str]
    cairn: list[str]


def bare(call: str) -> str:
    return re.sub(r" (stream|event)=0x[0-9a-f]+", "", call)


class Pairing:
    """Which stream of Cairn's machine each stream of PyTorch's is."""

    def __init__(self):
        self.pairs: dict[str, str] = {}

    def same(self, pytorch: list[str], cairn: list[str]) -> bool:
        """Whether both made these calls at a statement, each in an order of its own."""
        if sorted(map(bare, pytorch)) != sorted(map(bare, cairn)):
            return False
        streams = [collections.Counter(filter(None, map(stream_of, calls)))
                   for calls in (pytorch, cairn)]
        unknown = []
        for stream, count in streams[0].items():
            if stream not in self.pairs:
                unknown.append((stream, count))
            elif streams[1].pop(self.pairs[stream], 0) != count:
                return False
        known = set(self.pairs.values())
        if len(unknown) != len(streams[1]) or not known.isdisjoint(streams[1]):
            return False
        if len(unknown) == 1:  # Of several it shows later.
            self.pairs[unknown[0][0]] = next(iter(streams[1]))
            return unknown[0][1] == streams[1][self.pairs[unknown[0][0]]]
        return True


def with_streams(calls: list[list]) -> list[list]:
    """The calls, those that ask for an event with the stream on which it was recorded last."""
    recorded: dict[str, str] = {}
    named = []
    for line, call in calls:
        event = re.search(r" event=0x[0-9a-f]+", call)
        if event and kind_of(call) == "event_record":
            recorded[event[0]] = re.search(r" stream=0x[0-9a-f]+", call)[0]
        elif event and event[0] in recorded:
            call += recorded[event[0]]
        named.append([line, call])
    return named


class Calls:
    """The calls of some kinds that both made, statement by statement."""

    def __init__(self, pytorch: list[list], cairn: list[list], kinds: set[str]):
        self.sides: list[dict[int, list[str]]] = [{}, {}]
        for side, calls in zip(self.sides, (pytorch, cairn)):
            for line, call in with_streams(calls):
                if kind_of(call) in kinds:
                    side.setdefault(line, []).append(call)

    def before(self, until: int) -> list[tuple[int, list[str], list[str]]]:
        lines = sorted(self.sides[0].keys() | self.sides[1].keys())
        return [(line, self.sides[0].get(line, []), self.sides[1].get(line, []))
                for line in lines if line < until]

    def difference(self, until: int) -> Difference | None:
        """The first statement before that line at which they differ, be it in their order."""
        for line, one, other in self.before(until):
            if list(map(bare, one)) != list(map(bare, other)):
                return Difference(line, one, other)
        return None

    def unordered_difference(self, until: int) -> Difference | None:
        """The same where the order within a statement is nobody's promise."""
        pairing = Pairing()
        for line, one, other in self.before(until):
            if not pairing.same(one, other):
                return Difference(line, one, other)
        return None

    def are_reordered(self) -> bool:
        """Whether within some statement both asked for the events of streams in another order."""
        pairing = Pairing()
        for _, one, other in self.before(sys.maxsize):
            pairing.same(one, other)
            paired = [pairing.pairs.get(stream_of(call) or "") for call in one]
            if len(one) > 1 and paired != list(map(stream_of, other)):
                return True
        return False
