"""A dispatch mode that turns what happens to fake CUDA storages into lines of a Program."""

import contextlib
import ctypes
import gc
import heapq
import os
import sys
import weakref

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch._prims_common import is_non_overlapping_and_dense
from torch.utils._python_dispatch import TorchDispatchMode

from recorder.kernels import cuda_tensors

aten = torch.ops.aten

# What backward does, under a dispatch mode, where it otherwise writes into zeros that it just made.
INTO_ZEROS = {
    aten.index_put.default: aten.index_put_.default,
    aten.scatter.src: aten.scatter_.src,
}


class Recorder(TorchDispatchMode):
    """Turns births and deaths of fake CUDA storages into `alloc` and `free` lines.

    Where a workload says so there are other streams than the default one, and kernels.
    """

    def __init__(self):
        super().__init__()
        self.kept_alive = None  # what the workload leaves live at the end
        self.stream = "s0"  # that operations run on now; see on_stream()
        self.kernels = None  # Kernels, where the trace is to have them
        self.sole_holders = None
        self.start()

    def start(self):
        """Forgets everything recorded so far."""
        self.lines = []
        self.live = {}  # storage address -> (number, size_bytes, weak reference)
        self.newest = None  # address of the storage made last
        self.postponed = None
        self.free_numbers = []  # a heap
        self.names_made = 0
        self.in_place_sums = 0
        self.live_bytes = 0
        self.peak_bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is aten._local_scalar_dense.default:
            if self.kernels and args[0].device.type == "cuda":
                self.lines.append(f"sync {self.stream}")
            return 1.0 if args[0].dtype.is_floating_point else 1
        if func is aten.add.Tensor and self.is_in_place_sum(args[0], kwargs):
            self.in_place_sums += 1
            func = aten.add_.Tensor
        elif self.is_put_into_zeros(func, args):
            func = INTO_ZEROS[func]
        for tensor in cuda_tensors((args, kwargs)):
            self.check_known(tensor, func)
        result = func(*args, **kwargs)
        for tensor in cuda_tensors(result):
            self.see(tensor)
        if self.kernels:
            touched = self.kernels.touched(func, args, kwargs, result)
            self.lines += self.kernels.lines(self.stream, touched, self.live)
        return result

    @contextlib.contextmanager
    def on_stream(self, stream):
        """torch.cuda.stream(stream): what is created in here belongs to that stream."""
        before, self.stream = self.stream, stream
        yield
        self.stream = before

    def wait_stream(self, waiting, awaited):
        """waiting.wait_stream(awaited)"""
        self.lines.append(f"order {awaited} {waiting}")

    def record_stream(self, tensor, stream):
        """tensor.record_stream(stream)"""
        number, *_ = self.live[tensor.untyped_storage()._cdata]
        self.lines.append(f"use t{number} {stream}")

    def is_in_place_sum(self, total, kwargs):
        """Whether backward, with real tensors, would add a second gradient into `total`."""
        if kwargs or not is_in_backward():
            return False
        storage = total.untyped_storage()
        holders = (
            total._use_count(),
            sys.getrefcount(total),
            torch._C._storage_Use_Count(storage._cdata),
        )
        if self.sole_holders is None:  # calibrate() makes a sum with a single holder.
            self.sole_holders = holders
        return holders == self.sole_holders and is_non_overlapping_and_dense(total)

    def is_put_into_zeros(self, func, args):
        if func not in INTO_ZEROS or not is_in_backward():
            return False
        return args[0].untyped_storage()._cdata == self.newest

    def calibrate(self):
        """Learns which holder counts mean that only backward's own buffer holds a gradient."""
        weight = torch.empty(4, 8, device="cuda", requires_grad=True)
        hidden = weight * 2
        (hidden + hidden.relu()).sin().sum().backward()
        assert self.in_place_sums == 1
        del weight, hidden
        assert not self.live
        self.start()

    def see(self, tensor):
        storage = tensor.untyped_storage()
        size_bytes = storage.nbytes()
        key = storage._cdata
        if key in self.live:
            self.check_size(key, size_bytes)
            return
        if size_bytes == 0:
            return
        number = heapq.heappop(self.free_numbers) if self.free_numbers else self.names_made
        self.names_made = max(self.names_made, number + 1)
        death = weakref.ref(storage, lambda _: self.die(key))
        self.live[key] = (number, size_bytes, death)
        self.newest = key
        self.lines.append(f"alloc t{number} {size_bytes} {self.stream}")
        self.live_bytes += size_bytes
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)

    def die(self, key):
        if self.postponed is not None:
            self.postponed.add(key)
            return
        number, size_bytes, _ = self.live.pop(key)
        heapq.heappush(self.free_numbers, number)
        self.lines.append(f"free t{number}")
        self.live_bytes -= size_bytes

    @contextlib.contextmanager
    def frees_in_order_of_creation(self):
        """For a block that frees many storages in an order that depends on addresses."""
        self.postponed = set()
        yield
        keys, self.postponed = self.postponed, None
        for key in [key for key in self.live if key in keys]:
            self.die(key)

    def check_known(self, tensor, func):
        storage = tensor.untyped_storage()
        if storage.nbytes() > 0 and storage._cdata not in self.live:
            raise RuntimeError(f"{func} reads a storage whose creation was not seen")

    def check_size(self, key, size_bytes):
        if self.live[key][1] != size_bytes:
            raise RuntimeError("a storage was resized; the recorder does not support that")

    def check_live(self, tensors):
        """Fails unless the live bytes are exactly those of the given tensors.

        Computed from shapes alone, so that it does not lean on what the recorder saw.
        """
        distinct = {id(t): t for t in tensors if t.device.type == "cuda"}.values()
        expected_bytes = sum(t.numel() * t.element_size() for t in distinct)
        if self.live_bytes != expected_bytes:
            raise RuntimeError(f"{self.live_bytes} bytes live, expected {expected_bytes}")


def is_in_backward():
    return not torch.is_grad_enabled() and torch._C._current_graph_task_id() != -1


@contextlib.contextmanager
def cuda_context_for_backward():
    """Lets backward run on fake CUDA tensors on a machine without a GPU.

    Before it starts, backward asks PyTorch's CUDA hooks whether device 0 has a context, and
    without a GPU that question raises an error. Here the hooks object gets a copy of its table
    of virtual functions in which that one function always says yes.
    """
    if torch.cuda.is_available():
        yield
        return
    offset, has_context_slot, copied = 2, 4, 128  # Type information lies before the table.
    library = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    get_hooks = ctypes.CDLL(library)._ZN2at6detail12getCUDAHooksEv
    get_hooks.restype = ctypes.c_void_p
    hooks = ctypes.cast(get_hooks(), ctypes.POINTER(ctypes.c_void_p))
    original = hooks[0]
    word_bytes = ctypes.sizeof(ctypes.c_void_p)
    source = original - offset * word_bytes
    table = (ctypes.c_void_p * copied).from_buffer_copy(
        ctypes.string_at(source, copied * word_bytes)
    )
    yes = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_int8)(lambda *_: True)
    table[offset + has_context_slot] = ctypes.cast(yes, ctypes.c_void_p).value
    hooks[0] = ctypes.addressof(table) + offset * word_bytes
    try:
        yield
    finally:
        hooks[0] = original


@contextlib.contextmanager
def bfloat16_autocast(recorder):
    """What torch.autocast("cuda", torch.bfloat16) does where there is a GPU."""
    torch.set_autocast_enabled("cuda", True)
    torch.set_autocast_dtype("cuda", torch.bfloat16)
    torch.autocast_increment_nesting()
    try:
        yield
    finally:
        if torch.autocast_decrement_nesting() == 0:
            with recorder.frees_in_order_of_creation():
                torch.clear_autocast_cache()
        torch.set_autocast_enabled("cuda", False)


def flash_attention(query, key, value, dropout=0.0, causal=False):
    """The operation that F.scaled_dot_product_attention picks on a GPU for these inputs."""
    return aten._scaled_dot_product_flash_attention(query, key, value, dropout, causal)[0]


def record(run, options):
    """Runs a workload on fake CUDA tensors, and gives what its recorder saw."""
    recorder = Recorder()
    torch.autograd.set_multithreading_enabled(False)
    gc.collect()
    gc.disable()
    with cuda_context_for_backward(), FakeTensorMode(), recorder:
        recorder.calibrate()
        run(recorder, options)
        lines = len(recorder.lines)
        gc.collect()
        if len(recorder.lines) != lines:
            raise RuntimeError("some tensors lived on until the garbage collector ran")
    gc.enable()
    return recorder
