"""The functions of control.h for Python. Streams and addresses are numbers.

Those that can fail give a CUresult, for which there is check(). Where libcuda.so.1 is not the
simulated one, or not there at all, is_there() says so.
"""

import ctypes

READ, WRITE = 1, 2

_address, _size, _ticks = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_ulonglong
_TEXT = (ctypes.c_size_t, [ctypes.c_char_p, _size])
_FUNCTIONS = {
    "reset": (None, []),
    "launch": (ctypes.c_int, [_address, _ticks]),
    "touch": (ctypes.c_int, [_address, _address, _size, ctypes.c_int]),
    "advance": (None, [_ticks]),
    "hand_out": (ctypes.c_int, [_address, _address, _size]),
    "take_back": (ctypes.c_int, [_address, _size, ctypes.POINTER(_address), _size]),
    "next_address": (ctypes.c_int, [ctypes.c_int, ctypes.c_ulonglong]),
    "violations": _TEXT,
    "mistakes": _TEXT,
    "take_calls": _TEXT,
}


def _load():
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


cuda = _load()  # None where there is none.


def is_there() -> bool:
    """Whether it is the simulated libcuda.so.1, of this version."""
    return all(hasattr(cuda, f"cairn_sim_{name}") for name in _FUNCTIONS)


def _call(name: str, *arguments):
    function = getattr(cuda, f"cairn_sim_{name}")
    function.restype, function.argtypes = _FUNCTIONS[name]
    return function(*arguments)


def _lines(name: str) -> list[str]:
    text = ctypes.create_string_buffer(_call(name, None, 0) + 1)
    _call(name, text, len(text))
    return text.value.decode().splitlines()


def check(code: int) -> None:
    if code != 0:
        raise RuntimeError(f"the simulated CUDA failed with {code}")


def reset() -> None:
    """Ends the machine; the next cuInit makes a new one."""
    _call("reset")


def launch(stream: int, ticks: int) -> int:
    """A kernel that uses no memory."""
    return _call("launch", stream, ticks)


def touch(stream: int, address: int, size: int, mode: int) -> int:
    """A kernel that uses the memory: READ, WRITE or both."""
    return _call("touch", stream, address, size, mode)


def advance(ticks: int) -> None:
    """Lets time go by."""
    _call("advance", ticks)


def hand_out(stream: int, address: int, size: int) -> int:
    """An allocator handed the memory out for work on the stream."""
    return _call("hand_out", stream, address, size)


def take_back(address: int, size: int, recorded=()) -> int:
    """It took the memory back, told of work on these streams too."""
    return _call("take_back", address, size, (_address * len(recorded))(*recorded), len(recorded))


def next_address(device: int, address: int) -> int:
    """Where the device's next allocation lies."""
    return _call("next_address", device, address)


def violations() -> list[str]:
    """What the allocator did wrong."""
    return _lines("violations")


def mistakes() -> list[str]:
    """What the application did wrong, and no allocator could know."""
    return _lines("mistakes")


def take_calls() -> list[str]:
    """The driver's calls since the last time."""
    return _lines("take_calls")
