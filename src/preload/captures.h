// The captures of streams into graphs that the program has begun and not ended. While there is one,
// no synchronisation and no query of an event is allowed, and Cairn is not called.
//
// Thread safety: all members.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <compare>
#include <cstddef>
#include <map>
#include <mutex>

namespace cairn::preload {

class Captures {
 public:
  // One that was ended unseen is asked for, and forgotten.
  bool any() { return count_.load(std::memory_order_acquire) != 0 && any_goes_on(); }
  // `said` is what the runtime gave.
  void begun(cudaStream_t stream, cudaError_t said);
  void ended(cudaStream_t stream, cudaError_t said);
  // The stream is destroyed, and its capture with it.
  void forget_stream(cudaStream_t stream);
  void forget_device(int device);

 private:
  struct Capture {
    cudaStream_t stream = nullptr;
    std::size_t thread = 0;  // Of a per-thread default stream; else 0.

    auto operator<=>(const Capture&) const = default;
  };
  static Capture named(cudaStream_t stream);
  static bool goes_on(const Capture& capture);
  bool any_goes_on();
  void remove(const Capture& capture);

  std::mutex mutex_;
  std::map<Capture, int> devices_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace cairn::preload
