"""The simulated machine (src/simulator/libcuda/control.h) by ctypes, for clients in Python: what
work uses, what an allocator hands out and takes back, and what the judge saw. Streams and memory
are numbers."""

import ctypes

LONG_TIME = 1_000_000_000  # Ticks that kernels take here: nothing that polls waits them out.
READ_AND_WRITE = 3
NON_BLOCKING = 1

cuda = ctypes.CDLL("libcuda.so.1")


def check(code: int) -> None:
    if code != 0:
        raise RuntimeError(f"the simulated CUDA failed with {code}")


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
    check(cuda.cairn_sim_touch(ctypes.c_void_p(stream), ctypes.c_void_p(memory),
                               ctypes.c_size_t(size), READ_AND_WRITE))


def write_late(stream: int, memory: int, size: int) -> None:
    """A kernel that runs for long and then writes the memory."""
    check(cuda.cairn_sim_launch(ctypes.c_void_p(stream), ctypes.c_ulonglong(LONG_TIME)))
    write_now(stream, memory, size)


def use(memory: int, size: int, owner: int, user: int, write) -> None:
    """Memory that was just given out for `owner` is used by `write` on `user`, and is about to be
    given back, with `user` named."""
    users = (ctypes.c_void_p * 1)(user)
    check(cuda.cairn_sim_hand_out(ctypes.c_void_p(owner), ctypes.c_void_p(memory),
                                  ctypes.c_size_t(size)))
    write(user, memory, size)
    check(cuda.cairn_sim_take_back(ctypes.c_void_p(memory), ctypes.c_size_t(size), users,
                                   ctypes.c_size_t(1)))


def violations() -> str:
    text = ctypes.create_string_buffer(4096)
    cuda.cairn_sim_violations(text, len(text))
    return text.value.decode()
