"""What clients in Python tell the simulated machine: what work uses, what an allocator hands out
and takes back. Streams and memory are numbers."""

import ctypes
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "src/simulator/libcuda"))
import simulated_cuda  # noqa: E402
from simulated_cuda import READ, WRITE, check, cuda  # noqa: E402
from simulated_cuda import violations  # noqa: E402, F401

LONG_TIME = 1_000_000_000  # Ticks that kernels take here: nothing that polls waits them out.
NON_BLOCKING = 1


def make_current(device: int) -> None:
    """Makes the device's primary context the calling thread's."""
    context = ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(cuda.cuCtxSetCurrent(context))


def new_stream() -> int:
    """A stream of the current context, ordered with no other."""
    stream = ctypes.c_void_p()
    check(cuda.cuStreamCreate(ctypes.byref(stream), NON_BLOCKING))
    return stream.value


def synchronize(stream: int) -> None:
    check(cuda.cuStreamSynchronize(ctypes.c_void_p(stream)))


def write_now(stream: int, memory: int, size: int) -> None:
    check(simulated_cuda.touch(stream, memory, size, READ | WRITE))


def write_late(stream: int, memory: int, size: int) -> None:
    """A kernel that runs for long and then writes the memory."""
    check(simulated_cuda.launch(stream, LONG_TIME))
    write_now(stream, memory, size)


def use(memory: int, size: int, owner: int, user: int, write) -> None:
    """Memory that was just given out for `owner` is used by `write` on `user`, and is about to be
    given back, with `user` named."""
    check(simulated_cuda.hand_out(owner, memory, size))
    write(user, memory, size)
    check(simulated_cuda.take_back(memory, size, [user]))
