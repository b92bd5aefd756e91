"""Cairn's C API (cairn/cairn.h) by ctypes, as far as clients in Python need it."""

import ctypes
import os

OUT_OF_MEMORY = 1  # cairn_error
BLOCK_DEVICE = -1
STATISTICS = 512  # Numbers: more than cairn_device_stats has.
ALLOCATED_BYTES = 4 * 3 * 4  # Its fifth member; each is three statistics of four numbers.

library = ctypes.CDLL(os.environ.get("CAIRN_LIBRARY", "libcairn.so.0.1"))
library.cairn_last_error_message.restype = ctypes.c_char_p


class Request(ctypes.Structure):
    """cairn_request"""
    _fields_ = [("size_bytes", ctypes.c_size_t), ("device", ctypes.c_int),
                ("stream", ctypes.c_void_p), ("alignment_bytes", ctypes.c_size_t)]


def address_of(function: str) -> int:
    return ctypes.cast(getattr(library, function), ctypes.c_void_p).value


def check(code: int) -> None:
    """Raises MemoryError where memory is short, RuntimeError for any other failure."""
    if code != 0:
        kind = MemoryError if code == OUT_OF_MEMORY else RuntimeError
        raise kind(library.cairn_last_error_message().decode())


class Allocator:
    """The default allocator. A stream is its handle as a number."""

    def __init__(self):
        self._handle = ctypes.c_void_p()
        check(library.cairn_allocator_default(ctypes.byref(self._handle)))

    def allocate(self, size: int, device: int, stream: int) -> int:
        request = Request(size, device, stream, 0)
        pointer = ctypes.c_void_p()
        check(library.cairn_allocate(self._handle, ctypes.byref(request), ctypes.byref(pointer)))
        return pointer.value or 0

    def free(self, pointer: int) -> None:
        check(library.cairn_free(self._handle, ctypes.c_void_p(pointer)))

    def free_on(self, pointer: int, stream: int) -> None:
        check(library.cairn_free_on(self._handle, ctypes.c_void_p(pointer),
                                    ctypes.c_void_p(stream), BLOCK_DEVICE))

    def record_stream(self, pointer: int, stream: int) -> None:
        check(library.cairn_record_stream(self._handle, ctypes.c_void_p(pointer),
                                          ctypes.c_void_p(stream), BLOCK_DEVICE))

    def empty_cache(self) -> None:
        check(library.cairn_empty_cache(self._handle))

    def allocated_bytes(self, device: int = 0) -> int:
        """Of blocks that are handed out."""
        numbers = (ctypes.c_int64 * STATISTICS)()
        check(library.cairn_get_stats(self._handle, device, numbers))
        return numbers[ALLOCATED_BYTES]
