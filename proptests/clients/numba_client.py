#!/usr/bin/env python3
"""Numba, with Cairn as its memory manager (numba_cairn.py). On the simulated CUDA, with
CAIRN_SIM_BACKED=1 and NUMBA_CUDA_MEMORY_MANAGER=numba_cairn."""

import unittest

import cairn_c
import judge
import numba_cairn
import numpy
from numba import cuda

SIZE = 1 << 20
DEFAULT_STREAM = numba_cairn.DEFAULT_STREAM


def address_of(array) -> int:
    return array.device_ctypes_pointer.value


class Client(unittest.TestCase):
    def setUp(self):
        self.cairn = cairn_c.Allocator()
        self.assertIsInstance(cuda.current_context().memory_manager,
                              numba_cairn.CairnMemoryManager)

    def tearDown(self):
        cuda.synchronize()
        self.assertEqual(self.cairn.allocated_bytes(), 0)
        self.assertEqual(judge.violations(), [])

    def test_arrays_are_cairns(self):
        numbers = numpy.arange(1000.0)
        array = cuda.to_device(numbers)
        self.assertEqual(self.cairn.allocated_bytes(), 8192)
        self.assertTrue((array.copy_to_host() == numbers).all())
        part = array[10:20]
        del array
        self.assertEqual(self.cairn.allocated_bytes(), 8192)
        del part

    def test_memory_serves_again_at_once(self):
        array = cuda.device_array(SIZE, numpy.uint8)
        address = address_of(array)
        judge.use(address, SIZE, DEFAULT_STREAM, DEFAULT_STREAM, judge.write_late)
        del array
        array = cuda.device_array(SIZE, numpy.uint8)
        self.assertEqual(address_of(array), address)
        judge.use(address, SIZE, DEFAULT_STREAM, DEFAULT_STREAM, judge.write_now)

    def test_a_stream_that_is_recorded_delays_that(self):
        stream = cuda.stream()
        array = cuda.device_array(SIZE, numpy.uint8)
        address = address_of(array)
        judge.use(address, SIZE, DEFAULT_STREAM, int(stream.handle), judge.write_late)
        self.cairn.record_stream(address, int(stream.handle))
        del array
        other = cuda.device_array(SIZE, numpy.uint8)
        self.assertNotEqual(address_of(other), address)
        judge.use(address_of(other), SIZE, DEFAULT_STREAM, DEFAULT_STREAM, judge.write_now)
        stream.synchronize()

    def test_out_of_memory_is_a_memory_error(self):
        with self.assertRaisesRegex(MemoryError, "81.00 GiB"):
            cuda.device_array(81 << 30, numpy.uint8)

    def test_memory_info(self):
        free, total = cuda.current_context().get_memory_info()
        self.assertEqual(total, 80 << 30)
        self.assertLessEqual(free, total)


if __name__ == "__main__":
    unittest.main()
