#!/usr/bin/env python3
"""Numba, with Cairn as its memory manager (an EMM plugin), over the C API. On the simulated CUDA,
with CAIRN_SIM_BACKED=1."""

import unittest

import cairn_c
import numpy
from numba import cuda
from numba.cuda.cudadrv.driver import driver

SIZE = 1 << 20
DEFAULT_STREAM = 0


class CairnMemoryManager(cuda.HostOnlyCUDAMemoryManager):
    """Numba names no stream: memory is that of the legacy default stream. Arrays that work on
    another stream uses are to be kept until it is done, or to be named to cairn_record_stream()."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.cairn = cairn_c.Allocator()

    def initialize(self):
        pass

    @property
    def interface_version(self):
        return 1

    def memalloc(self, size):
        pointer = self.cairn.allocate(size, self.context.device.id, DEFAULT_STREAM)
        return cuda.MemoryPointer(self.context, cairn_c.ctypes.c_void_p(pointer), size,
                                  finalizer=lambda: self.cairn.free(pointer))

    def get_memory_info(self):
        free, total = driver.cuMemGetInfo()
        return cuda.MemoryInfo(free=free, total=total)

    def get_ipc_handle(self, memory):
        raise NotImplementedError("Cairn shares no memory between processes")


class Client(unittest.TestCase):
    def setUp(self):
        self.cairn = cairn_c.Allocator()
        cuda.current_context()
        self.assertIsInstance(cuda.current_context().memory_manager, CairnMemoryManager)

    def tearDown(self):
        cuda.synchronize()
        self.assertEqual(self.cairn.allocated(), 0)
        self.assertEqual(cairn_c.violations(), "")

    def test_arrays_are_cairns(self):
        numbers = numpy.arange(1000.0)
        array = cuda.to_device(numbers)
        self.assertEqual(self.cairn.allocated(), 8192)
        self.assertTrue((array.copy_to_host() == numbers).all())
        part = array[10:20]
        del array
        self.assertEqual(self.cairn.allocated(), 8192)
        del part

    def test_memory_is_handed_out_again(self):
        array = cuda.device_array(SIZE, numpy.uint8)
        pointer = array.device_ctypes_pointer.value
        cairn_c.handed_out(DEFAULT_STREAM, pointer, SIZE)
        cairn_c.write_late(DEFAULT_STREAM, pointer, SIZE)
        cairn_c.taken_back(DEFAULT_STREAM, pointer, SIZE)
        del array
        array = cuda.device_array(SIZE, numpy.uint8)
        self.assertEqual(array.device_ctypes_pointer.value, pointer)
        cairn_c.handed_out(DEFAULT_STREAM, pointer, SIZE)
        cairn_c.write_now(DEFAULT_STREAM, pointer, SIZE)
        cairn_c.taken_back(DEFAULT_STREAM, pointer, SIZE)

    def test_a_recorded_stream_delays_the_reuse(self):
        stream = cuda.stream()
        array = cuda.device_array(SIZE, numpy.uint8)
        pointer = array.device_ctypes_pointer.value
        cairn_c.handed_out(DEFAULT_STREAM, pointer, SIZE)
        cairn_c.write_late(int(stream.handle), pointer, SIZE)
        self.cairn.record_stream(pointer, int(stream.handle))
        cairn_c.taken_back(int(stream.handle), pointer, SIZE)
        del array
        other = cuda.device_array(SIZE, numpy.uint8)
        self.assertNotEqual(other.device_ctypes_pointer.value, pointer)
        stream.synchronize()
        del other

    def test_out_of_memory_is_an_exception(self):
        with self.assertRaisesRegex(MemoryError, "81.00 GiB"):
            cuda.device_array(81 << 30, numpy.uint8)

    def test_memory_info(self):
        free, total = cuda.current_context().get_memory_info()
        self.assertEqual(total, 80 << 30)
        self.assertLessEqual(free, total)


if __name__ == "__main__":
    cuda.set_memory_manager(CairnMemoryManager)
    unittest.main()
