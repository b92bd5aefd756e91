"""Cairn as PyTorch's allocator of GPU memory. torch is imported by these functions alone."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from . import _native
from .errors import Unsupported

if TYPE_CHECKING:
    from torch.cuda.memory import CUDAPluggableAllocator

_lock = threading.Lock()
_in_use: list[CUDAPluggableAllocator] = []  # One at most; it lives as long as the process.


def library_path() -> str:
    """The libcairn.so that this package uses: cairn_torch_alloc and the others are in it (see
    cairn/plugins.h). Who loads this file gets the same default allocator. From any thread."""
    return os.path.realpath(_native.library_path())


def pytorch_allocator() -> CUDAPluggableAllocator:
    """A new torch.cuda.memory.CUDAPluggableAllocator over the process's one Cairn allocator, with
    record_stream, empty_cache, memory fraction and base addresses, for
    torch.cuda.memory.change_current_allocator() or torch.cuda.MemPool(it.allocator()). From any
    thread. Raises Unsupported where torch takes no record_stream, without which memory that
    several streams use would be handed out too early."""
    import torch
    allocator = torch.cuda.memory.CUDAPluggableAllocator(
        library_path(), "cairn_torch_alloc", "cairn_torch_free")
    plugged = allocator.allocator()
    if not hasattr(plugged, "set_record_stream_fn"):
        raise Unsupported(f"torch {torch.__version__} takes no record_stream function for its "
                          "pluggable allocators; use 2.0 or later", "unsupported")
    for name, address in _native.torch_functions().items():
        if hasattr(plugged, f"set_{name}_fn"):
            getattr(plugged, f"set_{name}_fn")(address)
    return allocator


def use_in_pytorch() -> CUDAPluggableAllocator:
    """Makes Cairn the allocator of all GPU memory of PyTorch in this process; call it before
    anything is allocated there. Called again it gives the same. From any thread. Raises
    RuntimeError where PyTorch has used an allocator already."""
    import torch
    with _lock:
        if not _in_use:
            allocator = pytorch_allocator()
            try:
                torch.cuda.memory.change_current_allocator(allocator)
            except RuntimeError as error:
                raise RuntimeError("cairn.use_in_pytorch() must be called before PyTorch first "
                                   f"uses a GPU: {error}") from error
            _in_use.append(allocator)
        return _in_use[0]
