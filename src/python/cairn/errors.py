"""What the functions of this package raise. All of it is a CairnError, which is a RuntimeError."""

from __future__ import annotations


class CairnError(RuntimeError):
    """The message names the pointer, size, device or stream, and what to do.

    code: "out_of_memory", "rejected", "invalid_argument", "cuda_error" or "unsupported".
    cuda_code: the CUresult of the driver, 0 where it did not fail.
    """

    def __init__(self, message: str, code: str = "", cuda_code: int = 0,
                 quantities: dict | None = None):
        super().__init__(message)
        self.code = code
        self.cuda_code = cuda_code
        self._quantities = dict(quantities or {})

    def __reduce__(self):
        return type(self), (str(self), self.code, self.cuda_code, self._quantities)


class OutOfMemory(CairnError, MemoryError):
    """The device has no memory left, after all that is cached was tried; or the request was
    refused before that by throw_on_cudamalloc_oom (code "rejected").

    All in bytes, as they were when the request failed; None where they are not known. allocated,
    private and unallocated add up to reserved.
    """

    def __init__(self, message: str, code: str = "out_of_memory", cuda_code: int = 0,
                 quantities: dict | None = None):
        super().__init__(message, code, cuda_code, quantities)
        known = self._quantities
        self.device: int | None = known.get("device")
        self.requested_bytes: int | None = known.get("requested_bytes")
        self.tried_bytes: int | None = known.get("tried_bytes")  # The segment that it needs.
        self.total_bytes: int | None = known.get("total_bytes")  # Of the device.
        self.free_bytes: int | None = known.get("free_bytes")  # Of the device, as the driver says.
        self.limit_bytes: int | None = known.get("limit_bytes")  # Of set_memory_fraction().
        self.reserved_bytes: int | None = known.get("reserved_bytes")
        self.allocated_bytes: int | None = known.get("allocated_bytes")
        self.private_bytes: int | None = known.get("private_bytes")
        self.unallocated_bytes: int | None = known.get("unallocated_bytes")
        self.pending_bytes: int | None = known.get("pending_bytes")  # Wait for events.
        self.processes: dict[int, int] = known.get("processes", {})  # By pid, as NVML says.


class InvalidArgument(CairnError, ValueError):
    """The caller's mistake; nothing has changed."""


class CudaError(CairnError):
    """The CUDA driver failed with anything but out of memory."""


class Unsupported(CairnError):
    """This build, this driver or this device cannot do it."""
