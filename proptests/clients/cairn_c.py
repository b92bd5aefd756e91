"""Cairn's C API and the simulated machine's judge, by ctypes, for clients in Python."""

import ctypes
import os

DEVICE_IS_FULL = 1
LONG_TIME = 1_000_000_000  # Ticks that kernels take here: nothing that polls waits them out.
READ_OR_WRITE = 3
STATS_BYTES = 4096  # More than cairn_device_stats has.

library = ctypes.CDLL(os.environ["CAIRN_LIBRARY"])
simulated = ctypes.CDLL("libcuda.so.1")


class Request(ctypes.Structure):
    """cairn_request"""
    _fields_ = [("size_bytes", ctypes.c_size_t), ("device", ctypes.c_int),
                ("stream", ctypes.c_void_p), ("alignment_bytes", ctypes.c_size_t)]


def address_of(name: str) -> int:
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value


def last_error() -> str:
    library.cairn_last_error_message.restype = ctypes.c_char_p
    return library.cairn_last_error_message().decode()


def check(code: int) -> None:
    if code == DEVICE_IS_FULL:
        raise MemoryError(last_error())
    if code != 0:
        raise RuntimeError(last_error())


class Allocator:
    """The default allocator. Failures are exceptions, MemoryError where memory is short."""

    def __init__(self):
        self.handle = ctypes.c_void_p()
        check(library.cairn_allocator_default(ctypes.byref(self.handle)))

    def allocate(self, size: int, device: int, stream: int) -> int:
        request = Request(size, device, stream, 0)
        pointer = ctypes.c_void_p()
        check(library.cairn_allocate(self.handle, ctypes.byref(request), ctypes.byref(pointer)))
        return pointer.value or 0

    def free(self, pointer: int) -> None:
        check(library.cairn_free(self.handle, ctypes.c_void_p(pointer)))

    def free_on(self, pointer: int, stream: int) -> None:
        check(library.cairn_free_on(self.handle, ctypes.c_void_p(pointer),
                                    ctypes.c_void_p(stream), -1))

    def record_stream(self, pointer: int, stream: int) -> None:
        check(library.cairn_record_stream(self.handle, ctypes.c_void_p(pointer),
                                          ctypes.c_void_p(stream), -1))

    def empty_cache(self) -> None:
        check(library.cairn_empty_cache(self.handle))

    def allocated(self, device: int = 0) -> int:
        """Bytes of blocks that are handed out."""
        numbers = (ctypes.c_int64 * (STATS_BYTES // 8))()
        check(library.cairn_get_stats(self.handle, device, numbers))
        return numbers[4 * 3 * 4]  # allocated_bytes is the fifth array of three statistics of four.


def write_late(stream: int, pointer: int, size: int) -> None:
    """A kernel that runs for long and then writes the memory."""
    simulated.cairn_sim_launch(ctypes.c_void_p(stream), ctypes.c_ulonglong(LONG_TIME))
    write_now(stream, pointer, size)


def write_now(stream: int, pointer: int, size: int) -> None:
    simulated.cairn_sim_touch(ctypes.c_void_p(stream), ctypes.c_void_p(pointer),
                              ctypes.c_size_t(size), READ_OR_WRITE)


def handed_out(stream: int, pointer: int, size: int) -> None:
    simulated.cairn_sim_hand_out(ctypes.c_void_p(stream), ctypes.c_void_p(pointer),
                                 ctypes.c_size_t(size))


def taken_back(stream: int, pointer: int, size: int) -> None:
    streams = (ctypes.c_void_p * 1)(stream)
    simulated.cairn_sim_take_back(ctypes.c_void_p(pointer), ctypes.c_size_t(size), streams,
                                  ctypes.c_size_t(1))


def violations() -> str:
    text = ctypes.create_string_buffer(4096)
    simulated.cairn_sim_violations(text, len(text))
    return text.value.decode()


class CudaStream:
    """A stream in the shape that packages for Python pass it in."""

    def __init__(self, handle: int):
        self.handle = handle

    def __cuda_stream__(self):
        return 0, self.handle


def make_current(device: int) -> None:
    """Makes the device's primary context the calling thread's."""
    context = ctypes.c_void_p()
    check(simulated.cuInit(0))
    check(simulated.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(simulated.cuCtxSetCurrent(context))


def new_stream() -> int:
    """A non-blocking stream of the current context, ordered with no other."""
    stream = ctypes.c_void_p()
    check(simulated.cuStreamCreate(ctypes.byref(stream), 1))
    return stream.value


def synchronize(stream: int) -> None:
    simulated.cuStreamSynchronize(ctypes.c_void_p(stream))
