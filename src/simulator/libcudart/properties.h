// cudaDeviceProp, whose layout differs between the generations of the runtime: its fields by their
// places.
#pragma once

#include <cstddef>

namespace cairn::simulator::runtime {

enum class PropertyLayout { cuda_11, cuda_12, cuda_13 };

// Success: `properties`, a cudaDeviceProp of that layout, tells of the device. Else a cudaError_t.
int get_properties(void* properties, int device, PropertyLayout layout);
std::size_t size_of(PropertyLayout layout);

}  // namespace cairn::simulator::runtime
