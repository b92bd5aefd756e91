"""Carries out a Program with PyTorch's own allocator, on simulated CUDA, and writes it down again
with what PyTorch did as expectations: every address, failure, total and, now and then, the map.

One process runs one Program: the simulated machine and PyTorch's state are the process's.
"""

import dataclasses
import os

import torch

from census import Census
from driver_calls import Machine
from program_text import Statement, Unsupported, bytes_of

VERSION = torch.__version__.split("+")[0]
# Cairn's name of a statistic, and PyTorch's. Those that are looked at after each operation.
TOTALS = {"allocated": "allocated_bytes.all.current", "reserved": "reserved_bytes.all.current",
          "active": "active_bytes.all.current", "requested": "requested_bytes.all.current",
          "inactive_split": "inactive_split_bytes.all.current",
          "segments": "segment.all.current", "blocks(allocated)": "allocation.all.current",
          "reserved(small)": "reserved_bytes.small_pool.current",
          "peak_allocated": "allocated_bytes.all.peak", "peak_reserved": "reserved_bytes.all.peak",
          "retries": "num_alloc_retries", "ooms": "num_ooms"}
STATES = {"active_allocated": "active_allocated", "inactive": "inactive",
          "active_awaiting_free": "active_pending_free",
          "active_pending_free": "active_pending_free"}
OF_CAIRN = {"best_fit_tie", "stream_identity", "pytorch_defects"}  # Settings that PyTorch has not.
OPERATIONS = {"alloc", "free", "use", "empty_cache", "memory_fraction", "reconfigure"}


@dataclasses.dataclass
class Told:
    """What PyTorch did in a Program."""

    program: str  # With its expectations: what Cairn must agree with.
    calls: list[list]  # Of lines of that, and driver calls in words.
    statistics: list[dict]  # By device, at the end.
    recorded: int  # Addresses that the Program had of its own,
    strays: list[str]  # and those that PyTorch did not take.
    census: dict[str, int]


class Wheel:
    """PyTorch's side of one Program."""

    def __init__(self, statements: list[Statement], map_every: int, tie: str):
        self.statements = statements
        self.map_every = map_every
        self.lines: list[str] = []
        self.calls: list[list] = []
        self.recorded = 0
        self.strays: list[str] = []
        self.tensors: dict[str, torch.Tensor] = {}
        self.streams: dict[str, torch.cuda.Stream] = {}
        self.device = 0
        self.census = Census(statements)
        self.devices = self.declare(tie)
        self.machine = Machine()
        self.out_of_memory: tuple[int, int, int, int] | None = None
        torch.cuda.init()
        torch._C._cuda_attach_out_of_memory_observer(self.observe)

    def observe(self, device: int, tried: int, total: int, free: int) -> None:
        self.out_of_memory = (device, tried, total, free)

    def declare(self, tie: str) -> int:
        """The machine and the settings, which come before CUDA is first used."""
        memory = {int(s.arguments[0]): s.options.get("memory", "80GiB")
                  for s in self.statements if s.word == "gpu"} or {0: "80GiB"}
        if len({bytes_of(size) for size in memory.values()}) > 1:
            raise Unsupported("the simulated devices all have memory of one size")
        os.environ["CAIRN_SIM_DEVICES"] = str(len(memory))
        os.environ["CAIRN_SIM_MEMORY"] = str(bytes_of(memory[0]))
        os.environ["CAIRN_SIM_JUDGE"] = "quiet"
        # As in a Program: a query lets no time go by, and a free does not wait.
        os.environ["CAIRN_SIM_FREE_WAITS"] = "0"
        os.environ["CAIRN_SIM_QUERY_TICKS"] = "0"
        conf = [setting for s in self.statements if s.word == "conf"
                for setting in s.settings() if setting.split(":")[0] not in OF_CAIRN]
        if conf:
            torch.cuda.memory._set_allocator_settings(",".join(conf))
        self.lines += [f"gpu {device} memory={size}" for device, size in memory.items()]
        of_cairn = [f"best_fit_tie:{tie}", "pytorch_defects:True"]
        self.lines.append("conf " + ",".join([*of_cairn, *conf]))
        return len(memory)

    def stream(self, name: str) -> torch.cuda.Stream:
        if name == "s0":
            return torch.cuda.default_stream(self.device)
        if name == "ptds":
            raise Unsupported("PyTorch's tensors know no per-thread default stream")
        if name not in self.streams:
            self.streams[name] = torch.cuda.Stream(self.device)
        return self.streams[name]

    def run(self) -> Told:
        done = 0
        for statement in self.statements:
            if statement.word in ("gpu", "conf"):
                continue
            if not self.is_about_the_living(statement):
                continue
            self.carry_out(statement)
            done += 1
            if done % self.map_every == 0:
                self.expect_maps()
        self.expect_maps()
        totals = [torch.cuda.memory_stats(device) for device in range(self.devices)]
        return Told("\n".join(self.lines) + "\n", self.calls, totals, self.recorded, self.strays,
                    self.census.found)

    def carry_out(self, statement: Statement) -> None:
        self.machine.take_calls()
        line = len(self.lines) + 1
        getattr(self, f"do_{statement.word}")(statement)
        if statement.word in OPERATIONS:
            calls = self.machine.take_calls()
            self.calls += [[line, call] for call in calls]
            totals = [torch.cuda.memory_stats(device) for device in range(self.devices)]
            self.census.note(statement, calls, self.lines[line - 1:], totals)
            for device in range(self.devices):
                self.expect_totals(device, totals[device])

    def is_about_the_living(self, statement: Statement) -> bool:
        """Whether what it names was had: an allocation that failed leaves later lines without."""
        if statement.word in ("free", "use"):
            return statement.arguments[0] in self.tensors
        if statement.word == "launch":
            names = [touch.split(":")[0] for touch in statement.arguments[1].split(",")]
            return all(name in self.tensors for name in names)
        return True

    # ---- statements ----
    def do_device(self, statement: Statement) -> None:
        self.device = int(statement.arguments[0])
        torch.cuda.set_device(self.device)
        self.lines.append(statement.text())

    def do_stream(self, statement: Statement) -> None:
        device = int(statement.options.get("gpu", self.device))
        self.streams[statement.arguments[0]] = torch.cuda.Stream(device)
        self.lines.append(statement.text())

    def do_next_segment(self, statement: Statement) -> None:
        if not self.machine.next_address(self.device, int(statement.arguments[0], 16)):
            raise RuntimeError(f"line {statement.line}: no segment can be there")
        self.lines.append(statement.text())

    def do_alloc(self, statement: Statement) -> None:
        name, size, *stream = statement.arguments
        on = self.stream(stream[0] if stream else "s0")
        if on.device_index != self.device:
            raise Unsupported(f"line {statement.line}: PyTorch's tensors are of their stream's "
                              "device")
        line = f"alloc {name} {bytes_of(size)} {stream[0] if stream else 's0'}"
        try:
            with torch.cuda.stream(on):
                tensor = torch.empty(bytes_of(size), dtype=torch.uint8, device=on.device)
        except torch.cuda.OutOfMemoryError as error:
            if "preemptively rejected" in str(error):
                self.lines.append(f"{line} -> rejected")
                return
            self.lines.append(f"{line} -> out_of_memory")
            self.expect_failure()
            return
        self.tensors[name] = tensor
        address = tensor.data_ptr()
        self.lines.append(f"{line} = {address:#x}" if address else line)
        if statement.address is not None:
            self.recorded += 1
            if statement.address != address:
                self.strays.append(f"line {statement.line}: {line}: {address:#x}, recorded "
                                   f"{statement.address:#x}")

    def expect_failure(self) -> None:
        device, tried, allowed, free = self.out_of_memory
        total = torch.cuda.mem_get_info(device)[1]
        allocated = torch.cuda.memory_allocated(device)
        amounts = {"tried": tried, "total": total, "free": free, "allocated": allocated,
                   "unallocated": torch.cuda.memory_reserved(device) - allocated}
        if allowed != total:  # PyTorch's observers are told the limit where there is one.
            amounts["limit"] = allowed
        for query, amount in amounts.items():
            self.lines.append(f"expect oom({query})@{device} == {amount}")

    def do_free(self, statement: Statement) -> None:
        del self.tensors[statement.arguments[0]]
        self.lines.append(statement.text())

    def do_use(self, statement: Statement) -> None:
        name, stream = statement.arguments
        tensor, by = self.tensors[name], self.stream(stream)
        tensor.record_stream(by)
        elsewhere = tensor.device.index != by.device_index
        self.census.see("a block used " + ("on another device" if elsewhere else "by a stream"))
        self.lines.append(statement.text())

    def do_launch(self, statement: Statement) -> None:
        stream, _, ticks = statement.arguments
        if not self.machine.launch(self.stream(stream).cuda_stream, int(ticks)):
            raise RuntimeError(f"line {statement.line}: the simulated launch failed")
        self.lines.append(statement.text())

    def do_order(self, statement: Statement) -> None:
        before, after = statement.arguments
        self.stream(after).wait_stream(self.stream(before))
        self.lines.append(statement.text())

    def do_advance(self, statement: Statement) -> None:
        self.machine.advance(int(statement.arguments[0]))
        self.lines.append(statement.text())

    def do_sync(self, statement: Statement) -> None:
        if statement.arguments:
            self.stream(statement.arguments[0]).synchronize()
        else:
            torch.cuda.synchronize(int(statement.options.get("gpu", self.device)))
        self.lines.append(statement.text())

    def do_empty_cache(self, statement: Statement) -> None:
        torch.cuda.empty_cache()
        self.lines.append(statement.text())

    def do_memory_fraction(self, statement: Statement) -> None:
        device = int(statement.options.get("gpu", self.device))
        torch.cuda.set_per_process_memory_fraction(float(statement.arguments[0]), device)
        self.lines.append(statement.text())

    def do_reconfigure(self, statement: Statement) -> None:
        torch.cuda.memory._set_allocator_settings(statement.arguments[0])
        self.lines.append(statement.text())

    # ---- what PyTorch says of itself ----
    def expect_totals(self, device: int, totals: dict) -> None:
        for query, key in TOTALS.items():
            self.lines.append(f"expect {query}@{device} == {totals.get(key, 0)}")

    def name_of(self, handle: int) -> str:
        for name, stream in self.streams.items():
            if stream.cuda_stream == handle:
                return name
        return "s0"

    def expect_maps(self) -> None:
        for segment in torch.cuda.memory_snapshot():
            self.lines.append(
                f"expect_segment {segment['address']:#x} {segment['total_size']} "
                f"{segment['segment_type']} {self.name_of(segment['stream'])} "
                f"gpu={segment['device']}")
            for block in segment["blocks"]:
                self.lines.append(f"expect_block {block['size']} {STATES[block['state']]}")
