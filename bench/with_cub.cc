// cub::CachingDeviceAllocator, which keeps what it freed in bins of powers of two: here from 512
// bytes up to 2^40, and as much as comes.
#include <cub/util_allocator.cuh>

#include "bench/cuda_stubs.h"
#include "bench/hit_cases.h"

namespace cairn::bench {
namespace {

class CubContender {
 public:
  void* allocate(std::size_t size_bytes) {
    void* pointer = nullptr;
    if (allocator_.DeviceAllocate(0, &pointer, size_bytes, nullptr) != cudaSuccess) return nullptr;
    return pointer;
  }
  void free(void* pointer) { allocator_.DeviceFree(0, pointer); }
  std::uint64_t misses() const { return stub_malloc_calls(); }

 private:
  static constexpr unsigned growth = 2;
  static constexpr unsigned min_bin = 9;
  static constexpr unsigned max_bin = 40;

  cub::CachingDeviceAllocator allocator_{growth, min_bin, max_bin};
};

}  // namespace

bool register_cub() {
  register_hits<CubContender>("cub");
  return true;
}

}  // namespace cairn::bench
