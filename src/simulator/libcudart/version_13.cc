// What libcudart.so.13 has otherwise than its predecessor. CUDA's headers are left out, since those
// of one generation declare these calls otherwise.
#include <cstddef>

#include "simulator/libcudart/capture.h"
#include "simulator/libcudart/properties.h"

namespace sim = cairn::simulator::runtime;

namespace cairn::simulator::runtime {
extern const int version;
const int version = 13000;
}  // namespace cairn::simulator::runtime

// CUDA's own names and parameters.
// NOLINTBEGIN(readability-identifier-naming,readability-function-size)
extern "C" {

int cudaGetDeviceProperties(void* properties, int device) {
  return sim::get_properties(properties, device, sim::PropertyLayout::cuda_13);
}

int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id, void** graph,
                             const void** dependencies, const void** edges, std::size_t* count) {
  return sim::capture_info(stream, {status, id, graph, dependencies, edges, count});
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,readability-function-size)
