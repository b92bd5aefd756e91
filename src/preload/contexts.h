// Which contexts of CUDA the calls are made in, as libcuda.so.1 says.
//
// Thread safety: all.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <vector>

namespace cairn::preload {

inline constexpr int max_devices = 64;

class Contexts {
 public:
  // The thread's device, as the runtime counts, where its current context is that device's primary
  // one, which the runtime is made to take where there is none yet; else -1, for memory of another
  // context is not Cairn's to give.
  int current_device();
  // Those whose primary context is there: only on these can work be.
  std::vector<int> active_devices();
  // The primary context was ended.
  void forget(int device) { primary_[static_cast<std::size_t>(device)] = nullptr; }

 private:
  struct Calls;
  static const Calls* calls();
  // Whether the device's primary context is there.
  static bool is_active(const Calls& driver, CUdevice id);

  std::array<std::atomic<CUcontext>, max_devices> primary_{};
};

}  // namespace cairn::preload
