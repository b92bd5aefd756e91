"""Cairn: a caching memory allocator for CUDA that decides as PyTorch's does, and is verified.

    import cairn
    cairn.use_in_pytorch()                       # before PyTorch first uses a GPU
    ...
    print(cairn.memory_summary())

One allocator serves the whole process, whichever library asks for memory. It is made, over the
machine's CUDA driver and with the settings of the environment, when it is first needed; where that
cannot be, functions raise Unsupported, CudaError or InvalidArgument with the reason.

Any function may be called from any thread. Sizes are in bytes, devices are numbers from 0,
addresses and streams plain numbers (torch.cuda.Stream.cuda_stream). torch is imported only by
pytorch_allocator() and use_in_pytorch().
"""

from ._native import (allocate, device_count, empty_cache, forget_last_out_of_memory,
                      forget_stream, free, last_out_of_memory, memory_fraction, memory_map,
                      memory_stats, reconfigure, record_stream, reset_accumulated_memory_stats,
                      reset_peak_memory_stats, set_memory_fraction, version)
from .errors import CairnError, CudaError, InvalidArgument, OutOfMemory, Unsupported
from .pytorch import library_path, pytorch_allocator, use_in_pytorch
from .reports import (max_memory_allocated, max_memory_reserved, memory_allocated, memory_reserved,
                      memory_snapshot, memory_summary)

__version__ = version()

__all__ = [
    "CairnError", "CudaError", "InvalidArgument", "OutOfMemory", "Unsupported", "allocate",
    "device_count", "empty_cache", "forget_last_out_of_memory", "forget_stream", "free",
    "last_out_of_memory", "library_path", "max_memory_allocated", "max_memory_reserved",
    "memory_allocated", "memory_fraction", "memory_map", "memory_reserved", "memory_snapshot",
    "memory_stats", "memory_summary", "pytorch_allocator", "reconfigure", "record_stream",
    "reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_memory_fraction",
    "use_in_pytorch", "version",
]
