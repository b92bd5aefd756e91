#!/usr/bin/env python3
"""RMM's Python package, with Cairn below its CallbackMemoryResource, over the C API. On the
simulated CUDA; README.md says what of the wheel does not run there."""

import unittest

import cairn_c
import judge
import rmm
import rmm.mr
from rmm.pylibrmm.stream import Stream

SIZE = 1 << 20


class Handle:
    """A stream in the shape in which packages for Python pass it."""

    def __init__(self, handle: int):
        self.handle = handle

    def __cuda_stream__(self):
        return 0, self.handle


def handle_of(stream: Stream) -> int:
    return stream.__cuda_stream__()[1]


class Client(unittest.TestCase):
    def setUp(self):
        judge.make_current(0)
        self.cairn = cairn_c.Allocator()
        self.resource = rmm.mr.CallbackMemoryResource(self.allocate, self.deallocate)
        self.streams = [judge.new_stream() for _ in range(2)]

    def tearDown(self):
        for stream in self.streams:
            judge.synchronize(stream)
        self.assertEqual(self.cairn.allocated_bytes(), 0)
        self.assertEqual(judge.violations(), [])

    def allocate(self, size, stream):
        return self.cairn.allocate(size, 0, handle_of(stream))

    def deallocate(self, pointer, _size, stream):
        self.cairn.free_on(pointer, handle_of(stream))

    def buffer(self, size, stream):
        return rmm.DeviceBuffer(size=size, stream=Stream(Handle(stream)), mr=self.resource)

    def used(self, stream, write) -> int:
        """The address of a buffer that lived for this call."""
        buffer = self.buffer(SIZE, stream)
        judge.use(buffer.ptr, SIZE, stream, stream, write)
        return buffer.ptr

    def test_memory_is_of_its_stream(self):
        first, second = self.streams
        mine = self.used(first, judge.write_late)
        self.assertNotEqual(self.used(second, judge.write_now), mine)
        self.assertEqual(self.used(first, judge.write_now), mine)

    def test_out_of_memory_is_a_memory_error(self):
        with self.assertRaises(MemoryError):
            self.buffer(81 << 30, self.streams[0])

    def test_statistics_agree(self):
        self.resource = rmm.mr.StatisticsResourceAdaptor(self.resource)
        buffer = self.buffer(SIZE, self.streams[0])
        self.assertEqual(self.resource.allocation_counts.current_bytes,
                         self.cairn.allocated_bytes())
        del buffer
        self.assertEqual(self.resource.allocation_counts.current_bytes, 0)
        self.assertEqual(self.resource.allocation_counts.peak_bytes, SIZE)

    def test_it_is_the_resource_of_a_device(self):
        rmm.mr.set_per_device_resource(0, self.resource)
        self.assertIs(rmm.mr.get_per_device_resource(0), self.resource)


if __name__ == "__main__":
    unittest.main()
