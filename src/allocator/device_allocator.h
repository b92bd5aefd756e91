// One device: its heap behind a lock, and the driver. It asks the heap first and acts on what the
// heap decides.
//
// Thread-safe: every member takes the device's lock.
#pragma once

#include <utility>

#include "base/guarded.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "cairn/block_map.h"
#include "cairn/errors.h"
#include "cairn/options.h"
#include "cairn/stats.h"
#include "driver/driver.h"
#include "heap/heap.h"

namespace cairn {

// What a checked free says of the block.
struct FreeCheck {
  Bytes size;
  StreamId stream;
};

class DeviceAllocator {
 public:
  DeviceAllocator(DeviceIndex device, const Options& options, Driver& driver);
  // Gives all segments back to the driver, and does not look at what it says.
  ~DeviceAllocator();
  DeviceAllocator(const DeviceAllocator&) = delete;
  DeviceAllocator& operator=(const DeviceAllocator&) = delete;

  Result<Address, Error> allocate(const HeapRequest& request);

  // `check` may be null. False: the address is not in this device's memory. Failure: it is, but not
  // a live block's, or the check does not hold; nothing changes.
  Result<bool, Error> free(Address address, const FreeCheck* check);

  Result<Done, Error> empty_cache();

  DeviceStats stats() const { return heap_.lock()->ledger().read(); }
  BlockMap map() const { return heap_.lock()->map(); }
  void reset_peak_stats() { heap_.lock()->ledger().reset_peak(); }
  void reset_accumulated_stats() { heap_.lock()->ledger().reset_accumulated(); }

  // A segment that exists already, with blocks in it (see Heap::adopt_segment).
  void adopt_segment(const SegmentLayout& layout) { heap_.lock()->adopt_segment(layout); }

  // Calls look(const Heap&) under the lock.
  template <class Look>
  auto inspect(Look&& look) const {
    const auto heap = heap_.lock();
    return std::forward<Look>(look)(*heap);
  }

 private:
  Driver& driver_;
  Guarded<Heap> heap_;
};

}  // namespace cairn
