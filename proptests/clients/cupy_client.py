#!/usr/bin/env python3
"""CuPy, with Cairn as its allocator: by CFunctionAllocator over cairn/plugins.h, and by
PythonFunctionAllocator over the C API. On the simulated CUDA, with CAIRN_SIM_BACKED=1."""

import pathlib
import subprocess
import sys
import unittest

import cairn_c
import cupy
import judge
import numpy

SIZE = 1 << 20
TOO_MUCH = 81 << 30


def functions_of(stream) -> cupy.cuda.CFunctionAllocator:
    """Cairn's own functions, for memory of one stream."""
    return cupy.cuda.CFunctionAllocator(stream.ptr, cairn_c.address_of("cairn_cupy_malloc"),
                                        cairn_c.address_of("cairn_cupy_free"), cairn_c.library)


def malloc(size: int, device: int) -> int:
    return cairn_c.Allocator().allocate(size, device, cupy.cuda.get_current_stream().ptr)


def free(pointer: int, _device: int) -> None:
    cairn_c.Allocator().free(pointer)


def used(stream, write) -> int:
    """The address of an array that lived for this call."""
    array = cupy.empty(SIZE, numpy.uint8)
    judge.use(array.data.ptr, SIZE, stream.ptr, stream.ptr, write)
    return array.data.ptr


class Client(unittest.TestCase):
    """What both ways share."""

    def setUp(self):
        self.cairn = cairn_c.Allocator()
        self.streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]

    def tearDown(self):
        cupy.cuda.set_allocator()
        for stream in self.streams:
            stream.synchronize()
        self.assertEqual(self.cairn.allocated_bytes(), 0)
        self.assertEqual(judge.violations(), [])
        self.cairn.empty_cache()

    def memory_is_of_its_stream(self, current):
        """`current(stream)` makes the stream current, and its allocator CuPy's."""
        first, second = self.streams
        with current(first):
            mine = used(first, judge.write_late)
        with current(second):
            others = used(second, judge.write_now)
        self.assertNotEqual(others, mine)
        with current(first):
            self.assertEqual(used(first, judge.write_now), mine)


class WithCFunctions(Client):
    def test_arrays_are_cairns(self):
        cupy.cuda.set_allocator(functions_of(cupy.cuda.Stream.null).malloc)
        numbers = numpy.arange(1000.0)
        array = cupy.array(numbers)
        self.assertEqual(self.cairn.allocated_bytes(), 8192)
        self.assertTrue((cupy.asnumpy(array) == numbers).all())
        part = array[10:20]
        del array
        self.assertEqual(self.cairn.allocated_bytes(), 8192)
        del part
        self.assertEqual(self.cairn.allocated_bytes(), 0)
        self.assertEqual(cupy.empty(0).data.ptr, 0)

    def test_memory_is_of_its_stream(self):
        allocators = {stream.ptr: functions_of(stream) for stream in self.streams}

        def current(stream):
            cupy.cuda.set_allocator(allocators[stream.ptr].malloc)
            return stream
        self.memory_is_of_its_stream(current)

    def test_out_of_memory_ends_the_process_with_the_reason(self):
        """CuPy's C++ catches nothing."""
        program = (f"import cupy, cupy_client\n"
                   f"cupy.cuda.set_allocator("
                   f"cupy_client.functions_of(cupy.cuda.Stream.null).malloc)\n"
                   f"cupy.empty({TOO_MUCH}, 'uint8')")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                              check=False, cwd=pathlib.Path(__file__).parent)
        self.assertEqual(done.returncode, -6, done.stderr)
        self.assertIn("81.00 GiB", done.stderr)


class WithPythonFunctions(Client):
    def setUp(self):
        super().setUp()
        cupy.cuda.set_allocator(cupy.cuda.PythonFunctionAllocator(malloc, free).malloc)

    def test_memory_is_of_the_current_stream(self):
        self.memory_is_of_its_stream(lambda stream: stream)

    def test_out_of_memory_is_a_memory_error(self):
        held = cupy.empty(SIZE, numpy.uint8)
        with self.assertRaisesRegex(MemoryError, "81.00 GiB"):
            cupy.empty(TOO_MUCH, numpy.uint8)
        self.assertEqual(self.cairn.allocated_bytes(), SIZE)
        del held


if __name__ == "__main__":
    unittest.main()
