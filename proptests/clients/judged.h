// What clients in C++ tell the simulated GPU's judge: which memory a resource hands out and takes
// back for which stream, and what work on a stream uses.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include "simulator/libcuda/control.h"

namespace cairn::clients {

// So long, in ticks, do kernels run here: nothing that polls waits them out.
inline constexpr unsigned long long long_time = 1'000'000'000;

// A non-blocking stream, ordered with no other.
class OwnStream {
 public:
  OwnStream() { cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking); }
  ~OwnStream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)

 private:
  cudaStream_t stream_ = nullptr;
};

// A kernel that runs for long and then writes the memory.
inline void write_late(cudaStream_t stream, const void* memory, std::size_t bytes) {
  cairn_sim_launch(stream, long_time);
  cairn_sim_touch(stream, memory, bytes, CAIRN_SIM_WRITE);
}

inline void write_now(cudaStream_t stream, const void* memory, std::size_t bytes) {
  cairn_sim_touch(stream, memory, bytes, CAIRN_SIM_WRITE);
}

inline void handed_out(cudaStream_t stream, const void* memory, std::size_t bytes) {
  cairn_sim_hand_out(stream, memory, bytes);
}
inline void taken_back(cudaStream_t stream, const void* memory, std::size_t bytes) {
  cairn_sim_take_back(memory, bytes, &stream, 1);
}

inline std::string violations() {
  char text[4096] = {};
  cairn_sim_violations(text, sizeof text);
  return text;
}

}  // namespace cairn::clients
