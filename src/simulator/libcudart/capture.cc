#include "simulator/libcudart/capture.h"

#include "simulator/libcudart/runtime.h"

namespace cairn::simulator::runtime {
namespace {

template <class T>
void put(T* to, T value) {
  if (to != nullptr) *to = value;
}

}  // namespace

int capture_info(void* stream, const CaptureInfo& info) {
  return call_in_context([&] {
    CUstreamCaptureStatus status{};
    if (info.status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUstream named = stream_of(static_cast<cudaStream_t>(stream));
    if (const CUresult bad = cuStreamIsCapturing(named, &status)) return bad;
    *info.status = static_cast<int>(status);
    put(info.id, 0ull);
    put(info.graph, static_cast<void*>(nullptr));
    put(info.dependencies, static_cast<const void*>(nullptr));
    put(info.edges, static_cast<const void*>(nullptr));
    put(info.count, std::size_t{0});
    return CUDA_SUCCESS;
  });
}

}  // namespace cairn::simulator::runtime
