// The CUDA driver of the machine, for allocators of one's own over real GPUs:
//
//     cairn::Allocator allocator(cairn::cuda_driver(), options);
//
// An allocator's destructor calls the driver. One that lives to the end of the process may meet a
// driver that is gone by then, which does no harm; default_allocator() never ends.
//
// Thread safety: can be called from any thread.
#pragma once

#include "cairn/export.h"

namespace cairn {

class Driver;

// It is opened (libcuda.so.1 is loaded) at the first call that can, one for the whole process, and
// never closed. Until then each call throws, with the reason: Unsupported where this build or this
// machine has no CUDA driver that can be used, CudaError where there is one that fails.
CAIRN_EXPORT Driver& cuda_driver();

}  // namespace cairn
