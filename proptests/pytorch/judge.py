"""What the simulated CUDA's judge has to be told of a process that runs PyTorch, and what it saw.

Kernels do nothing on the simulated GPU, so the judge is told by every operation of PyTorch's which
memory it uses, on which stream (Telling). What is handed out and taken back it is told by
libcairn_judged.so (judged.cc), or from PyTorch's own history (History).
"""

import ctypes
import pathlib
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import cairn

sys.path.append(str(pathlib.Path(__file__).parents[2] / "src/simulator/libcuda"))
import simulated_cuda  # noqa: E402
from simulated_cuda import READ, WRITE, mistakes, violations  # noqa: E402, F401

_USE_NOTHING = ("empty", "detach", "set_", "resize_", "is_pinned", "_has_")


def handle_of(stream) -> int:
    return torch.cuda.Stream(stream_id=stream.stream_id, device_index=stream.device_index,
                             device_type=stream.device_type).cuda_stream


class JudgedCairn:
    """libcairn_judged.so over the package `cairn`, whose libcairn.so is loaded already."""

    def __init__(self):
        self.library = ctypes.CDLL("libcairn_judged.so")

    def _address(self, name: str) -> int:
        return ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value

    def use_in_pytorch(self, hook: bool = True) -> None:
        """As cairn.use_in_pytorch(), with the judge told; without the hook PyTorch's
        record_stream() does not reach Cairn."""
        plugged = torch._C._cuda_customAllocator(self._address("judged_alloc"),
                                                 self._address("judged_free"))
        for name, address in cairn._native.torch_functions().items():
            if hook or name != "record_stream":
                getattr(plugged, f"set_{name}_fn")(address)
        torch._C._cuda_changeCurrentAllocator(plugged)

    def use(self, address: int, stream: int) -> None:
        self.library.judged_use(ctypes.c_void_p(address), ctypes.c_void_p(stream))

    def poll(self) -> None:
        """There is nothing to ask: the judge is told at each call."""

    def write(self, path: str, memory: int) -> None:
        if self.library.judged_write(path.encode(), ctypes.c_ulonglong(memory)) != 0:
            raise RuntimeError(f"{path} cannot be written")


class History:
    """PyTorch's own allocator, whose history tells what it handed out and took back."""

    def __init__(self):
        self.lines: list[str] = []
        self.streams = {0: "s0"}
        self.requests = 0
        self.held: dict[int, int] = {}  # Numbers of blocks by address.
        self.told: dict[int, list[int]] = {}
        self._begin()

    def _begin(self) -> None:
        torch.cuda.memory._record_memory_history("all", context=None, stacks="python",
                                                 max_entries=2**16, clear_history=True)

    def name_of(self, stream: int) -> str:
        return self.streams.setdefault(stream, f"s{len(self.streams)}")

    def use(self, address: int, stream: int) -> None:
        self.told.setdefault(address, []).append(stream)
        self.lines.append(f"use b{self.held[address]} {self.name_of(stream)}")

    def poll(self) -> None:
        news = torch.cuda.memory._snapshot()["device_traces"][0]
        for entry in news:
            self._tell(entry)
        if news:
            self._begin()

    def _tell(self, entry: dict) -> None:
        action, address, size = entry["action"], entry.get("addr"), entry["size"]
        if action == "alloc":
            self.requests += 1
            self.held[address] = self.requests
            self.lines.append(f"alloc b{self.requests} {size} {self.name_of(entry['stream'])}")
            simulated_cuda.check(simulated_cuda.hand_out(entry["stream"], address, size))
        elif action == "free_requested":
            self.lines.append(f"free b{self.held.pop(address)}")
            told = self.told.pop(address, [])
            simulated_cuda.check(simulated_cuda.take_back(address, size, told))
        elif action == "oom":
            self.requests += 1
            self.lines.append("# a request failed")

    def write(self, path: str, memory: int) -> None:
        streams = [f"stream {name}" for handle, name in self.streams.items() if handle]
        with open(path, "w", encoding="utf-8") as file:
            print(f"gpu 0 memory={memory}", *streams, *self.lines, sep="\n", file=file)


class Telling(TorchDispatchMode):
    """While it is on, the judge is told what each operation uses."""

    def __init__(self, source):
        super().__init__()
        self.source = source

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.source.poll()
        if function is torch.ops.aten.record_stream.default:
            self.source.use(args[0].untyped_storage().data_ptr(), handle_of(args[1]))
            return result
        name = function.__name__
        if function.is_view or name.startswith(_USE_NOTHING):
            return result
        mode = READ | WRITE if function._schema.is_mutable else READ
        self._use((args, kwargs), mode)
        self._use(result, READ | WRITE)
        return result

    def _use(self, values, mode: int) -> None:
        for value in torch.utils._pytree.tree_leaves(values):
            if isinstance(value, torch.Tensor) and value.is_cuda:
                storage = value.untyped_storage()
                if storage.nbytes():
                    stream = torch.cuda.current_stream(value.device).cuda_stream
                    simulated_cuda.check(simulated_cuda.touch(
                        stream, storage.data_ptr(), storage.nbytes(), mode))
