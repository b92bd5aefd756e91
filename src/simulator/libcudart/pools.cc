// Memory pools: each is a name, and holds nothing back. What is allocated from one is the device's
// memory, and goes back to it when it is freed.
#include <deque>
#include <map>
#include <mutex>

#include "simulator/libcudart/runtime.h"

// A pool: where it is says which.
struct CUmemPoolHandle_st {
  int device = 0;
  std::map<cudaMemPoolAttr, std::uint64_t> attributes;
};

namespace sim = cairn::simulator::runtime;

namespace {

struct Pools {
  std::mutex mutex;
  std::deque<CUmemPoolHandle_st> all;
  std::map<int, cudaMemPool_t> defaults;  // By device.
  std::map<int, cudaMemPool_t> current;
};

Pools& pools() {
  static auto* const the_pools = new Pools;
  return *the_pools;
}

// For the holder of the mutex alone, as what follows.
cudaMemPool_t make_pool(int device) {
  pools().all.push_back({device, {}});
  return &pools().all.back();
}

bool is_pool(cudaMemPool_t pool) {
  for (CUmemPoolHandle_st& each : pools().all) {
    if (&each == pool) return true;
  }
  return false;
}

cudaMemPool_t default_pool(int device) {
  cudaMemPool_t& pool = pools().defaults[device];
  if (pool == nullptr) pool = make_pool(device);
  return pool;
}

// Success where there is such a device, and somewhere to answer.
CUresult check(const cudaMemPool_t* answer, int device) {
  CUdevice found = 0;
  return answer == nullptr ? CUDA_ERROR_INVALID_VALUE : cuDeviceGet(&found, device);
}

// What is reserved and used is what the current device has out at the moment, for all pools
// together.
bool is_size(cudaMemPoolAttr attribute) {
  return attribute == cudaMemPoolAttrReservedMemCurrent ||
         attribute == cudaMemPoolAttrReservedMemHigh ||
         attribute == cudaMemPoolAttrUsedMemCurrent || attribute == cudaMemPoolAttrUsedMemHigh;
}

std::uint64_t memory_out() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  cuMemGetInfo(&free_bytes, &total_bytes);
  return total_bytes - free_bytes;
}

bool is_flag(cudaMemPoolAttr attribute) {
  return attribute == cudaMemPoolReuseFollowEventDependencies ||
         attribute == cudaMemPoolReuseAllowOpportunistic ||
         attribute == cudaMemPoolReuseAllowInternalDependencies;
}

}  // namespace

// CUDA's own names and parameters.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return sim::call([&] {
    if (const CUresult bad = check(pool, device)) return bad;
    const std::lock_guard lock(pools().mutex);
    *pool = default_pool(device);
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return sim::call([&] {
    if (const CUresult bad = check(pool, device)) return bad;
    const std::lock_guard lock(pools().mutex);
    const auto chosen = pools().current.find(device);
    *pool = chosen == pools().current.end() ? default_pool(device) : chosen->second;
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return sim::call([&] {
    if (const CUresult bad = check(&pool, device)) return bad;
    const std::lock_guard lock(pools().mutex);
    if (!is_pool(pool)) return CUDA_ERROR_INVALID_VALUE;
    pools().current[device] = pool;
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return sim::call([&] {
    if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult bad = check(pool, properties->location.id)) return bad;
    if (properties->handleTypes != cudaMemHandleTypeNone) return CUDA_ERROR_NOT_SUPPORTED;
    const std::lock_guard lock(pools().mutex);
    *pool = make_pool(properties->location.id);
    return CUDA_SUCCESS;
  });
}

// What is out of it stays out.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return sim::call([&] {
    const std::lock_guard lock(pools().mutex);
    if (!is_pool(pool)) return CUDA_ERROR_INVALID_VALUE;
    for (auto each = pools().current.begin(); each != pools().current.end();) {
      each = each->second == pool ? pools().current.erase(each) : std::next(each);
    }
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return sim::call([&] {
    const std::lock_guard lock(pools().mutex);
    return is_pool(pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return sim::call([&] {
    const std::lock_guard lock(pools().mutex);
    if (!is_pool(pool) || value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    pool->attributes[attribute] = is_flag(attribute)
                                      ? static_cast<std::uint64_t>(*static_cast<int*>(value))
                                      : *static_cast<std::uint64_t*>(value);
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return sim::call_in_context([&] {
    const std::lock_guard lock(pools().mutex);
    if (!is_pool(pool) || value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::uint64_t known = is_size(attribute) ? memory_out() : pool->attributes[attribute];
    if (is_flag(attribute)) {
      *static_cast<int*>(value) = static_cast<int>(known);
    } else {
      *static_cast<std::uint64_t*>(value) = known;
    }
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc*, std::size_t) {
  return cudaMemPoolTrimTo(pool, 0);
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  if (const cudaError_t bad = cudaMemPoolTrimTo(pool, 0)) return bad;
  return cudaMallocAsync(pointer, size, stream);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
