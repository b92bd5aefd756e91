// What libcudart.so.12 has otherwise than its successor. CUDA's headers are left out, since those
// of one generation declare these calls otherwise.
#include <cstddef>

#include "simulator/libcudart/capture.h"
#include "simulator/libcudart/properties.h"

namespace sim = cairn::simulator::runtime;

namespace cairn::simulator::runtime {
extern const int version;
const int version = 12080;
}  // namespace cairn::simulator::runtime

// CUDA's own names and parameters.
// NOLINTBEGIN(readability-identifier-naming,readability-function-size)
extern "C" {

// As compiled against CUDA 11.
int cudaGetDeviceProperties(void* properties, int device) {
  return sim::get_properties(properties, device, sim::PropertyLayout::cuda_11);
}
int cudaGetDeviceProperties_v2(void* properties, int device) {
  return sim::get_properties(properties, device, sim::PropertyLayout::cuda_12);
}

int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id) {
  return sim::capture_info(stream, {status, id, nullptr, nullptr, nullptr, nullptr});
}
int cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph,
                                const void** dependencies, std::size_t* count) {
  return sim::capture_info(stream, {status, id, graph, dependencies, nullptr, count});
}
int cudaStreamGetCaptureInfo_v3(void* stream, int* status, unsigned long long* id, void** graph,
                                const void** dependencies, const void** edges, std::size_t* count) {
  return sim::capture_info(stream, {status, id, graph, dependencies, edges, count});
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,readability-function-size)
