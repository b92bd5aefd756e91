// What the simulated devices say of themselves: plausible figures of a GPU of compute capability
// 9.0. Nothing is computed, so nothing depends on them.
#pragma once

#include <cuda.h>

namespace cairn::simulator {

inline constexpr const char* device_name = "Cairn simulated GPU";

// 0 for what has no figure here.
int attribute_value(CUdevice_attribute attribute, CUdevice device);

}  // namespace cairn::simulator
