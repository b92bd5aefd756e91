// Blocks of cudaFree under CAIRN_PRELOAD_FREE=event. Each waits for an event of every device's
// primary context that was there at the free (cuCtxRecordEvent), which covers the work on all its
// streams, those that block no other too; then it goes back to its allocator. The host waits for
// nothing, unless memory is short.
//
// Thread safety: all members.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "preload/live_blocks.h"

namespace cairn::preload {

class FencedFrees {
 public:
  // False where no such event can be had: then nothing has changed. `services`: of all devices on
  // which work can be.
  bool add(const LiveBlock& block, const std::vector<DeviceService*>& services) noexcept;
  // Gives back the blocks whose events are done, the oldest first, up to one that is not.
  void collect() noexcept;
  // Waits for all of them, and gives them back; says whether there were any. Where an event gives
  // an error, both wait for its device. Where that fails too, which the runtime's own calls say
  // then, the block stays.
  bool wait() noexcept;
  // The device was reset: its events are done with it, and its blocks are no more.
  void drop(const DeviceService* service) noexcept;

 private:
  struct Fence {
    DeviceService* service = nullptr;
    EventHandle event;
  };
  struct Entry {
    LiveBlock block;
    std::vector<Fence> fences;
  };
  struct Events {
    std::vector<EventHandle> spare;  // Has room for all: to put one back wants no memory.
    std::size_t made = 0;
  };
  enum class Look { ask, wait };

  // For holders of the mutex:
  // Records an event of the service's device, as one more fence; false where none can be had.
  bool raise(DeviceService& service, std::vector<Fence>& fences);
  // If so, its event is spare again.
  bool is_done(const Fence& fence, Look look);
  bool is_done_without_event(const Fence& fence);
  bool give_back_those_done(Look look);

  std::mutex mutex_;
  std::deque<Entry> entries_;
  std::map<DeviceService*, Events> events_;
};

}  // namespace cairn::preload
