"""Cairn as Numba's memory manager: NUMBA_CUDA_MEMORY_MANAGER=numba_cairn, with this folder on
PYTHONPATH, and CAIRN_LIBRARY the path of libcairn.so where the loader does not find it.

Numba names no stream, so memory is the legacy default stream's. Where a kernel on another stream
uses an array, keep the array until that is done, or name the stream to record_stream()."""

import cairn_c
from numba import cuda
from numba.cuda.cudadrv.driver import driver

DEFAULT_STREAM = 0


class CairnMemoryManager(cuda.HostOnlyCUDAMemoryManager):
    """Device memory is Cairn's, host memory Numba's own."""

    @property
    def interface_version(self):
        return 1

    def initialize(self):
        self.cairn = cairn_c.Allocator()

    def memalloc(self, size):
        cairn = self.cairn
        pointer = cairn.allocate(size, self.context.device.id, DEFAULT_STREAM)
        return cuda.MemoryPointer(self.context, cairn_c.ctypes.c_void_p(pointer), size,
                                  finalizer=lambda: cairn.free(pointer))

    def get_memory_info(self):
        free, total = driver.cuMemGetInfo()
        return cuda.MemoryInfo(free=free, total=total)

    def get_ipc_handle(self, memory):
        raise NotImplementedError("Cairn shares no memory between processes")


_numba_memory_manager = CairnMemoryManager
