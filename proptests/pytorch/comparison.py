"""One Program through PyTorch's allocator and through Cairn: in what they differ, and whether that
is a deviation of src/heap/README.md.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess

from driver_calls import EVENTS, MEMORY, Calls, kind_of
from program_text import Unsupported, read
from variants import foreign_default_uses, without_foreign_default_uses, without_kernels

# Unlimited is -1 to PyTorch, and 2^64-1 to `cairn run`.
OTHER_STATISTICS = {"max_split_size"}
# They tell what was between two blocks that became free in one statement, after events of several
# streams, whose order is nobody's promise.
PASSING = r"inactive_split.*\.(peak|allocated|freed)$"


@dataclasses.dataclass
class Side:
    """What PyTorch did in one Program; `problem` where it did not do it."""

    name: str
    text: str
    path: pathlib.Path
    problem: str = ""
    told: dict = dataclasses.field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        return self.told["program"].splitlines()


@dataclasses.dataclass
class Difference:
    line: int  # Of what was written down of PyTorch; after its last one: at the end.
    words: str
    deviation: str = ""  # That explains it; none: nothing does.


class Comparison:
    """How both sides are run: the options of the command, and the module that needs torch."""

    def __init__(self, args: argparse.Namespace, wheel):
        self.args = args
        self.wheel = wheel

    # ---- PyTorch's side ----
    def through_pytorch(self, name: str, text: str) -> Side:
        """In a process of its own, for the machine and PyTorch's state are the process's."""
        side = Side(name, text, self.args.out / f"{name}.program")
        answer = side.path.with_suffix(".json")
        answer.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            self.carry_out(text, answer)
        _, status = os.waitpid(child, 0)
        if status != 0 or not answer.exists():
            side.problem = f"PyTorch ended with status {status}"
            return side
        told = json.loads(answer.read_text())
        side.problem = told.pop("problem", "")
        side.told = told
        if not side.problem:
            side.path.write_text(told["program"])
        return side

    def carry_out(self, text: str, answer: pathlib.Path) -> None:
        """Ends the process."""
        try:
            map_every = max(self.args.map_every, text.count("\n") // 200)
            told = self.wheel.Wheel(read(text), map_every, self.args.tie).run()
            answer.write_text(json.dumps(dataclasses.asdict(told)))
        except Unsupported as refusal:
            answer.write_text(json.dumps({"problem": f"refused: {refusal}"}))
        except BaseException as error:  # pylint: disable=broad-except
            answer.write_text(json.dumps({"problem": f"{type(error).__name__}: {error}"}))
        os._exit(0)

    # ---- Cairn's side ----
    def through_cairn(self, sides: list[Side]) -> list[dict]:
        if not sides:
            return []
        command = [str(self.args.cairn), "run", "--json", "--calls",
                   *(str(side.path) for side in sides)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        verdicts = [json.loads(line) for line in run.stdout.splitlines()]
        if len(verdicts) != len(sides):
            raise RuntimeError(f"cairn run gave {len(verdicts)} verdicts for {len(sides)} "
                               f"Programs: {run.stderr[-2000:]}")
        return verdicts

    # ---- both ----
    def differences(self, side: Side, verdict: dict) -> list[Difference]:
        strays, recorded = side.told["strays"], side.told["recorded"]
        found = [Difference(0, f"{len(strays)} of {recorded} recorded addresses are others to "
                            f"PyTorch {self.wheel.VERSION}: {strays[0]}")] if strays else []
        end = len(side.lines) + 1
        until = end
        if verdict["verdict"] != "holds":
            until = verdict.get("line") or end
            words = verdict.get("why") or f"PyTorch {verdict['expected']}, Cairn {verdict['found']}"
            found.append(Difference(until, f"{verdict.get('statement', '')}: {words}"))
            if "why" in verdict:
                return found
            # The statement that this expectation follows may differ in its calls too.
            until = max((line for line, _ in side.told["calls"] if line <= until), default=until)
        found += self.differing_calls(side, verdict, until)
        if verdict["verdict"] == "holds":
            found += self.differing_statistics(side, verdict, end)
        return found

    def differing_calls(self, side: Side, verdict: dict, until: int) -> list[Difference]:
        calls = verdict["calls"]
        # A wait of Cairn's lets time go by; after that statement queries answer differently (V5).
        waited = min((line for line, call in calls if kind_of(call) == "stream_sync"),
                     default=until)
        found = [Calls(side.told["calls"], calls, MEMORY).difference(until)]
        if not foreign_default_uses(side.text):
            events = Calls(side.told["calls"], calls, EVENTS)
            found.append(events.unordered_difference(min(until, waited + 1)))
        return [Difference(each.line, f"driver calls: PyTorch {each.pytorch}, Cairn {each.cairn}")
                for each in found if each is not None]

    def differing_statistics(self, side: Side, verdict: dict, end: int) -> list[Difference]:
        found = []
        events = Calls(side.told["calls"], verdict["calls"], EVENTS)
        is_reordered = events.are_reordered()
        for device, (one, other) in enumerate(zip(side.told["statistics"], verdict["statistics"])):
            for name in sorted(other.keys() - OTHER_STATISTICS):
                if is_reordered and re.match(PASSING, name):
                    continue
                if one.get(name, 0) != other[name]:
                    found.append(Difference(end, f"{name} of device {device}: PyTorch "
                                            f"{one.get(name, 0)}, Cairn {other[name]}"))
        return found

    # ---- deviations ----
    def explain(self, side: Side, verdict: dict, found: Difference) -> str:
        """Which deviation it is, "" where none is shown to be.

        Tie: the recording is of an older PyTorch, whose addresses Cairn gives with the tie rule
        that the recording's `conf` has, as it gives the wheel's with the other.
        V6: without the uses by another device's default stream there is no difference, or another
        one that is explained. V5: Cairn had waited for a stream, which let time go by. V3: in that
        very statement PyTorch waited for events and did not look again. For both, without the
        kernels, which are what takes time, there is no difference.
        """
        if "why" in verdict:
            return ""
        if found.line == 0:
            return "tie" if self.is_as_recorded(side) else ""
        if foreign_default_uses(side.text):
            again = self.settled(side.name + "-v6", without_foreign_default_uses(side.text))
            return "V6" if all(each.deviation for each in again) else ""
        had_waited = any(kind_of(call) == "stream_sync" and line <= found.line
                         for line, call in verdict["calls"])
        deviation = "V5" if had_waited else "V3" if self.retried(side, found.line) else ""
        if not deviation:
            return ""
        idle = self.through_pytorch(side.name + "-idle", without_kernels(side.text))
        if idle.problem or self.differences(idle, self.through_cairn([idle])[0]):
            return ""
        return deviation

    def is_as_recorded(self, side: Side) -> bool:
        path = side.path.with_suffix(".recorded.program")
        path.write_text(side.text)
        if "best_fit_tie:address" not in side.text or self.args.tie == "address":
            return False
        recorded = dataclasses.replace(side, path=path)
        return self.through_cairn([recorded])[0]["verdict"] == "holds"

    def retried(self, side: Side, line: int) -> bool:
        """Whether PyTorch waited for events in the statement there."""
        calls = side.told["calls"]
        at = max((each for each, _ in calls if each <= line), default=0)
        return any(each == at and kind_of(call) == "event_sync" for each, call in calls)

    def settled(self, name: str, text: str) -> list[Difference]:
        """The differences in this Program, each with the deviation that explains it."""
        side = self.through_pytorch(name, text)
        if side.problem:
            return [Difference(0, side.problem)]
        verdict = self.through_cairn([side])[0]
        return self.judged(side, verdict)

    def judged(self, side: Side, verdict: dict) -> list[Difference]:
        found = self.differences(side, verdict)
        for each in found:
            each.deviation = self.explain(side, verdict, each)
            if not each.deviation:
                break
        return found
