#include "preload/device_service.h"

#include <new>
#include <utility>

#include "driver/cuda_driver.h"
#include "preload/runtime.h"
#include "preload/say.h"

namespace cairn::preload {
namespace {

// Read once: a program may change its environment.
const ParsedSettings& allocator_settings() {
  static const auto* const parsed = [] {
    const auto* const read = new ParsedSettings(settings_from_environment());
    for (const std::string& warning : read->warnings) {
      std::atomic_flag was_said;
      say_once(was_said, warning);
    }
    return read;
  }();
  return *parsed;
}

}  // namespace

DeviceService* DeviceService::make(int device, std::string& why) {
  try {
    const ParsedSettings& parsed = allocator_settings();
    if (!parsed.ok) {
      why = parsed.error.message;
      return nullptr;
    }
    auto opened = open_cuda_driver();
    if (!opened) {
      why = opened.error().message;
      return nullptr;
    }
    auto driver = std::make_unique<SegmentDriver>(std::move(*opened));
    return new DeviceService(device, std::move(driver), parsed.options);
  } catch (const Exception& failure) {
    why = failure.what();
  } catch (const std::bad_alloc&) {
    why.clear();
  }
  return nullptr;
}

Stream DeviceService::settled() {
  if (Stream made = settled_.load(std::memory_order_acquire)) return made;
  const std::lock_guard lock(mutex_);
  cudaStream_t stream = settled_.load(std::memory_order_relaxed);
  if (stream != nullptr) return stream;
  if (real::stream_create_with_flags(&stream, cudaStreamNonBlocking) != cudaSuccess) return nullptr;
  settled_.store(stream, std::memory_order_release);
  return stream;
}

bool DeviceService::has(const void* pointer) const {
  return driver_->has(Address{reinterpret_cast<std::uintptr_t>(pointer)});
}

std::uint64_t DeviceService::releasable_bytes() const {
  const DeviceStats stats = allocator_.stats(device_);
  const std::int64_t bytes = stats.reserved_bytes.all.current - stats.active_bytes.all.current -
                             stats.inactive_split_bytes.all.current;
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
}

}  // namespace cairn::preload
