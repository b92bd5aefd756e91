// Cairn under PyTorch and CuPy: the functions that these load from a library by name, over
// default_allocator() (see cairn/allocator.h), which is made at the first call. For C and C++.
//
//     torch.cuda.memory.CUDAPluggableAllocator("libcairn.so.0.1", "cairn_torch_alloc",
//                                              "cairn_torch_free")
//     cupy.cuda.CFunctionAllocator(stream.ptr, address of cairn_cupy_malloc,
//                                  address of cairn_cupy_free, owner)
//
// Failures: neither looks at what is returned, so a function that fails throws through C: an
// exception of cairn/errors.h, which is a std::runtime_error and says what to do, or
// std::bad_alloc. PyTorch makes a RuntimeError of it, not torch.OutOfMemoryError. CuPy may catch
// nothing: then the process ends, with the reason on stderr; who wants a MemoryError there calls
// cairn_allocate() (cairn/cairn.h) from a cupy.cuda.PythonFunctionAllocator. A free throws nothing:
// it says on stderr what was wrong, and the block stays as it was.
//
// Thread safety: all functions. Sizes are in bytes, devices count from 0.
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "cairn/cairn.h"
#include "cairn/export.h"

// NOLINTBEGIN(modernize-*): C.
#ifdef __cplusplus
extern "C" {
#endif

// ---- PyTorch: CUDAPluggableAllocator. Memory belongs to `stream`, PyTorch's current one ----

// At least `size` bytes; 0 gives null.
CAIRN_EXPORT void* cairn_torch_alloc(ssize_t size, int device, cairn_stream stream);
// Null does nothing. What the block is is known by its address alone; the rest is not looked at.
CAIRN_EXPORT void cairn_torch_free(void* pointer, ssize_t size, int device, cairn_stream stream);

// Optional, to be set from C++ or by address (set_record_stream_fn and so on). Where a tensor is
// used on several streams cairn_torch_record_stream is needed: else its record_stream() does
// nothing.
CAIRN_EXPORT void cairn_torch_record_stream(void* pointer, cairn_stream stream);
// Makes default_allocator(), so that what is wrong with it shows now. The count is not looked at.
CAIRN_EXPORT void cairn_torch_init(int device_count);
// torch.cuda.empty_cache().
CAIRN_EXPORT void cairn_torch_reset(void);
// torch.cuda.set_per_process_memory_fraction().
CAIRN_EXPORT void cairn_torch_memory_fraction(double fraction, int device);
// The start of the segment that `pointer` lies in, and in `*size` its bytes, if that is not null.
// Throws InvalidArgument where it lies in none.
CAIRN_EXPORT void* cairn_torch_base_alloc(void* pointer, size_t* size);

// ---- CuPy: CFunctionAllocator. It names no stream: `param`, its first argument, is the stream
// that memory belongs to, 0 the legacy default stream. So each stream wants an allocator of its
// own, and memory that other streams use too wants cairn_record_stream() (cairn/cairn.h) ----

CAIRN_EXPORT void* cairn_cupy_malloc(void* param, size_t size, int device);
CAIRN_EXPORT void cairn_cupy_free(void* param, void* pointer, int device);

#ifdef __cplusplus
}  // extern "C"
#endif
// NOLINTEND(modernize-*)
