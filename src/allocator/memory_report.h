// Failures for want of memory: the quantities (README.md, "Out of memory, in numbers"), and the
// words that tell them. The counters of the heap count the failure.
//
// The lock of the state is held.
#pragma once

#include <string>

#include "allocator/device_state.h"
#include "cairn/errors.h"
#include "driver/driver.h"
#include "heap/heap.h"

namespace cairn {

// The request found no memory, after all was tried; or a cuda_error, where the device is lost when
// it is asked how much it has. `complaints`: what else is to be said.
Error out_of_memory(DeviceState& state, const HeapRequest& request, Driver& driver,
                    const std::string& complaints);

// The request would have needed more than throw_on_cudamalloc_oom lets be asked for.
Error rejected(DeviceState& state, const HeapRequest& request, const Driver& driver,
               const std::string& complaints);

}  // namespace cairn
