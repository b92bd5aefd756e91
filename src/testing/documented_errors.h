// What a call of the Driver may fail with, as CUDA documents it (driver/cuda_errors.h), and why.
// Thread safety: pure functions.
#pragma once

#include <vector>

#include "driver/cuda_status.h"
#include "driver/driver_call.h"

namespace cairn::testing {

// Why a call may fail so; where there are several reasons, the first.
enum class ErrorSource {
  own,           // CUDA's function documents it.
  driver,        // CUDA's driver behind the seam says so itself: the function is not there.
  context,       // A function that makes the context current before it documents it.
  earlier_work,  // The function may tell of work of before: any code that loses the device.
};

// Whether a device is of no more use after that code: as cuda.h says, as the allocator takes it, or
// as the reference model does. Who asks here sees what the allocator overlooks.
bool loses_device(CudaStatus status);

struct DocumentedError {
  CudaStatus status;
  ErrorSource source;
};

// In the order of the sources; each status once. Empty for calls that a Driver does not have.
std::vector<DocumentedError> documented_errors(DriverCall call);

// The calls that a Driver has.
const std::vector<DriverCall>& calls_of_a_driver();

}  // namespace cairn::testing
