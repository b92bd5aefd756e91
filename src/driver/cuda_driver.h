// The driver of real GPUs: libcuda.so.1, loaded by name at run time, so that what is linked with
// Cairn also starts where there is none. It works in each device's primary context, the one that
// the CUDA runtime uses too, which it takes hold of at the first call that needs it and lets go of
// at its end.
#pragma once

#include <memory>

#include "base/result.h"
#include "cairn/errors.h"
#include "driver/driver.h"

namespace cairn {

// Unsupported, with the reason, where this build or this machine has no CUDA driver that can be
// used; cuda_error where there is one that fails. May be called again, and from any thread.
Result<std::unique_ptr<Driver>, Error> open_cuda_driver();

}  // namespace cairn
