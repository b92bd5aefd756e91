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
#include <shared_mutex>

namespace cairn::preload {

class Captures {
 public:
  using None = std::shared_lock<std::shared_mutex>;

  // One that was ended unseen is asked for, and forgotten.
  bool any() { return count_.load(std::memory_order_acquire) != 0 && any_goes_on(); }
  // What owns something where there is none, and then none begins until it ends: who begins one
  // waits for that. Never waits itself.
  None none();
  // Calls begin(), which is the runtime's call, and gives what that gave.
  template <class Begin>
  cudaError_t begin(cudaStream_t stream, Begin&& begin) {
    const Beginner announced(beginners_);
    const std::lock_guard lock(begins_);
    const cudaError_t said = begin();
    if (said == cudaSuccess) begun(stream);
    return said;
  }
  // `said` is what the runtime gave.
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
  struct Beginner {
    explicit Beginner(std::atomic<int>& beginners) : all(beginners) { ++all; }
    ~Beginner() { --all; }
    Beginner(const Beginner&) = delete;
    Beginner& operator=(const Beginner&) = delete;

    std::atomic<int>& all;
  };
  static Capture named(cudaStream_t stream);
  static bool goes_on(const Capture& capture);
  bool any_goes_on();
  void begun(cudaStream_t stream);
  void remove(const Capture& capture);

  std::shared_mutex begins_;       // Held alone while one begins, shared while none may.
  std::atomic<int> beginners_{0};  // Who want to; nobody new is to go before them.
  std::mutex mutex_;
  std::map<Capture, int> devices_;
  std::atomic<std::size_t> count_{0};
};

}  // namespace cairn::preload
