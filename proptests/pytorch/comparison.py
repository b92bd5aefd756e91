"""One Program through PyTorch's allocator and through Cairn, and in what they differ."""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess

from driver_calls import EVENTS, MEMORY, Calls
from program_text import Unsupported, read

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
    is_tie: bool = False  # Explained by the rule for ties; else by nothing.


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

    @staticmethod
    def differing_calls(side: Side, verdict: dict, until: int) -> list[Difference]:
        of_memory, of_events = (Calls(side.told["calls"], verdict["calls"], kinds)
                                for kinds in (MEMORY, EVENTS))
        found = [of_memory.difference(until), of_events.unordered_difference(until)]
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

    def judged(self, side: Side, verdict: dict) -> list[Difference]:
        """The differences, each with what explains it.

        Nothing does but the tie rule: of a recording of an older PyTorch, where Cairn gives each
        recorded address by the rule that the recording's `conf` has, and the wheel's by the other.
        """
        found = self.differences(side, verdict)
        for each in found:
            each.is_tie = each.line == 0 and self.is_as_recorded(side)
        return found

    def is_as_recorded(self, side: Side) -> bool:
        path = side.path.with_suffix(".recorded.program")
        path.write_text(side.text)
        if "best_fit_tie:address" not in side.text or self.args.tie == "address":
            return False
        recorded = dataclasses.replace(side, path=path)
        return self.through_cairn([recorded])[0]["verdict"] == "holds"
