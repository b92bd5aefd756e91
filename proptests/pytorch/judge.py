"""What the simulated CUDA's judge has to be told of a process that runs PyTorch, and what it saw.

Kernels do nothing on the simulated GPU, so the judge is told by every operation of PyTorch's which
memory it uses, on which stream (Telling). What is handed out and taken back it is told by
libcairn_judged.so (judged.cc), or from PyTorch's own history (History).
"""

import ctypes

import torch
from torch.utils._python_dispatch import TorchDispatchMode

READ, WRITE = 1, 2
CUDA = ctypes.CDLL("libcuda.so.1")
_USE_NOTHING = ("empty", "detach", "set_", "resize_", "is_pinned", "_has_")


def _list_of(function) -> list[str]:
    text = ctypes.create_string_buffer(2**20)
    function(text, len(text))
    return text.value.decode().splitlines()


def violations() -> list[str]:
    """What the allocator did wrong."""
    return _list_of(CUDA.cairn_sim_violations)


def mistakes() -> list[str]:
    """What the application did wrong, and no allocator could know."""
    return _list_of(CUDA.cairn_sim_mistakes)


def touch(stream: int, address: int, size: int, mode: int) -> None:
    code = CUDA.cairn_sim_touch(ctypes.c_void_p(stream), ctypes.c_void_p(address),
                                ctypes.c_size_t(size), mode)
    if code != 0:
        raise RuntimeError(f"the simulated CUDA refuses a use of {size} bytes: {code}")


def handle_of(stream) -> int:
    return torch.cuda.Stream(stream_id=stream.stream_id, device_index=stream.device_index,
                             device_type=stream.device_type).cuda_stream


class JudgedCairn:
    """libcairn_judged.so, for the package `cairn`, which has to be imported before."""

    def __init__(self):
        self.library = ctypes.CDLL("libcairn_judged.so")

    def _address(self, name: str) -> int:
        return ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value

    def allocator(self, plugged):
        """As cairn.pytorch_allocator() has made it, but for the judge."""
        del plugged
        return torch._C._cuda_customAllocator(self._address("judged_alloc"),
                                              self._address("judged_free"))

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
        torch.cuda.memory._record_memory_history("all", context=None, stacks="python",
                                                 max_entries=2**20)
        self.seen = 0
        self.requests: list[tuple[str, int, int]] = []
        self.told: dict[int, list[int]] = {}

    def use(self, address: int, stream: int) -> None:
        self.told.setdefault(address, []).append(stream)

    def poll(self) -> None:
        traces = torch.cuda.memory._snapshot()["device_traces"][0]
        for entry in traces[self.seen:]:
            self._tell(entry)
        self.seen = len(traces)

    def _tell(self, entry: dict) -> None:
        action, address, size = entry["action"], entry["addr"], entry["size"]
        if action == "alloc":
            CUDA.cairn_sim_hand_out(ctypes.c_void_p(entry["stream"]), ctypes.c_void_p(address),
                                    ctypes.c_size_t(size))
        elif action == "free_requested":
            told = self.told.pop(address, [])
            CUDA.cairn_sim_take_back(ctypes.c_void_p(address), ctypes.c_size_t(size),
                                     (ctypes.c_void_p * len(told))(*told),
                                     ctypes.c_size_t(len(told)))
        else:
            return
        self.requests.append((action, size, entry["stream"]))


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
                    touch(stream, storage.data_ptr(), storage.nbytes(), mode)
