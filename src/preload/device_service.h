// What serves the requests for one device: an allocator, over a driver of its own. After a reset of
// the device both are given up as they are, and never ended, since all that they know is gone.
//
// Thread safety: all.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "cairn/allocator.h"
#include "preload/segment_driver.h"

namespace cairn::preload {

class DeviceService {
 public:
  // Null on failure; `why` then says so, unless the host has no memory.
  static DeviceService* make(int device, std::string& why);

  int device() const { return device_; }
  SegmentDriver& driver() { return *driver_; }
  Allocator& allocator() { return allocator_; }
  bool has(const void* pointer) const;
  // The key of memory that any stream may use as soon as it is handed out: a stream of the
  // library's own on which there is no work. Its blocks become free only when the host knows that
  // all work with them is done. Made at the first call; null where it cannot be.
  // REQUIRES: the device is the thread's current one, in its primary context.
  Stream settled();
  // Of segments that hold nothing: what the allocator gives back before it says that there is no
  // memory.
  std::uint64_t releasable_bytes() const;

 private:
  DeviceService(int device, std::unique_ptr<SegmentDriver> driver, const Options& options)
      : device_(device), driver_(std::move(driver)), allocator_(*driver_, options) {}

  int device_;
  std::unique_ptr<SegmentDriver> driver_;
  Allocator allocator_;
  std::mutex mutex_;  // Held while the stream is made.
  std::atomic<Stream> settled_{nullptr};
};

}  // namespace cairn::preload
