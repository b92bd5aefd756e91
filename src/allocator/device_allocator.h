// One device: what is known of it behind a lock, and the driver. It asks the heap first and acts on
// what the heap decides; README.md says what each member does, driver call by driver call.
//
// Thread-safe: every member takes the device's lock, but hit() and free_unused() that of one lane,
// so that hits on different streams do not wait for each other. No callback runs under either.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "allocator/callbacks.h"
#include "allocator/device_state.h"
#include "allocator/fencing.h"
#include "allocator/retry_ladder.h"
#include "allocator/stream_directory.h"
#include "base/guarded.h"
#include "base/ids.h"
#include "base/lane_mutex.h"
#include "base/result.h"
#include "base/units.h"
#include "cairn/block_map.h"
#include "cairn/errors.h"
#include "cairn/options.h"
#include "cairn/stats.h"
#include "driver/driver.h"
#include "heap/heap.h"
#include "heap/lane.h"

namespace cairn {

// What a block must be to be freed.
struct BlockCheck {
  Bytes size;  // As requested.
  StreamId stream;
};

// A stream that uses a block, of the block's own device unless one is given.
struct UserStream {
  StreamId id;
  std::optional<DeviceIndex> device;
};

// What the allocators of all devices share. All of it outlives them.
struct Shared {
  Driver& driver;
  StreamDirectory& streams;
  Callbacks& callbacks;
};

class DeviceAllocator {
 public:
  DeviceAllocator(DeviceIndex device, const Options& options, const Shared& shared);
  // Gives all segments back to the driver, once the work of their streams was waited for, and
  // destroys all events. Failures are dropped; a device that is lost is asked nothing.
  ~DeviceAllocator();
  DeviceAllocator(const DeviceAllocator&) = delete;
  DeviceAllocator& operator=(const DeviceAllocator&) = delete;

  // What most calls are, with no more ado: a request that the cache serves while nothing is
  // pending, and a free of a live block that no other stream uses. Address 0, or false, where there
  // is more to it, or another thread has or wants the device's lock: nothing has changed then.
  Address hit(StreamId stream, Bytes requested, Bytes alignment = block_granularity) {
    const auto state = state_.try_lock_lane(lane_of(stream));
    if (!state || !state->is_at_ease()) [[unlikely]]
      return {};
    const Block* block = state->heap.hit(stream, requested, alignment);
    return block == nullptr ? Address{} : block->ptr;
  }
  bool free_unused(Address address) {
    const auto lane = lane_hints_.at(address);
    if (!lane) return false;
    const auto state = state_.try_lock_lane(*lane);
    return state && state->heap.free_unused(*lane, address);
  }

  Result<Address, Error> allocate(const HeapRequest& request);

  // Where these give a bool, false says that the address is not in this device's memory. A failure:
  // it is, but not a live block's, or the rest is not as it must be, or the driver failed; nothing
  // changes.
  // `check` may be null.
  Result<bool, Error> free(Address address, const BlockCheck* check);
  Result<bool, Error> record_stream(Address address, const UserStream& stream);
  Result<bool, Error> free_on(Address address, const UserStream& stream);
  Result<bool, Error> holds(Address address);  // Looks for a live block, and changes nothing.

  // REQUIRES: the stream is no default stream, and not retired.
  Result<Done, Error> forget_stream(StreamKey stream);
  Result<Done, Error> process_events();
  Result<Done, Error> empty_cache();

  // REQUIRES: 0 <= fraction <= 1.
  void set_memory_fraction(double fraction);
  double memory_fraction() const;
  // REQUIRES: what differs from the options of before can change.
  void reconfigure(const Options& options);

  // Why nothing is asked of the device any more; none as long as it is.
  std::optional<Error> lost() const;
  // A driver call for the device that was made elsewhere failed so.
  void note_failure(CudaStatus status) { state_.lock()->note(status); }

  DeviceStats stats() const;
  BlockMap map() const { return state_.lock()->heap.map(); }
  void reset_peak_stats() { state_.lock()->heap.ledger().reset_peak(); }
  void reset_accumulated_stats() { state_.lock()->heap.ledger().reset_accumulated(); }

  // A segment that exists already, with blocks in it (see Heap::adopt_segment).
  void adopt_segment(const SegmentLayout& layout) { state_.lock()->heap.adopt_segment(layout); }

  // Whether a thread has the whole of the state.
  bool is_locked() const { return state_.is_locked(); }

  // Calls look(const Heap&), or look(const DeviceState&), under the lock.
  template <class Look>
  auto inspect(Look&& look) const {
    const auto state = state_.lock();
    if constexpr (std::is_invocable_v<Look, const Heap&>) {
      return std::forward<Look>(look)(state->heap);
    } else {
      return std::forward<Look>(look)(*state);
    }
  }

 private:
  DeviceContext context(DeviceState& state) { return {state, shared_.driver, shared_.streams}; }
  // Looks at events, as every allocation does. Fails where the device is lost.
  Result<Done, Error> be_ready(DeviceState& state);
  // The live block that begins there; null where the address is in no memory of the device.
  static Result<Block*, Error> find_live(DeviceState& state, Address address);
  StreamKey key_of(const UserStream& stream) const {
    return {stream.device.value_or(device_), stream.id};
  }
  // Fences the uses that the heap lists, and takes the block back. Gives true.
  Result<bool, Error> free_with_uses(DeviceState& state, Block& block);
  Result<Address, Error> climb_on(RetryLadder& ladder);
  void set_policy(DeviceState& state, const Options& options);

  const DeviceIndex device_;
  const Shared shared_;
  const Bytes total_;  // Memory of the device.
  Guarded<DeviceState, LaneMutex<lane_count>> state_;
  const LaneHints& lane_hints_;
};

}  // namespace cairn
