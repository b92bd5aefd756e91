// The allocator of one device with as little around the heap as the contract allows
// (src/allocator/README.md): no driver, no threads, no words. What a driver would do is decided
// here: segments lie where the simulated GPU would put them, memory ends where the device's does,
// and events are done by a WorkClock. The calls that a driver would get, as far as the heap decides
// them, are noted.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/errors.h"
#include "cairn/options.h"
#include "heap/heap.h"
#include "simulator/address_space.h"
#include "testing/program.h"
#include "testing/work_clock.h"

namespace cairn::testing {

struct BareCall {
  enum class Kind : std::uint8_t { malloc, free, stream_sync };
  Kind kind = Kind::malloc;
  std::uint64_t what = 0;  // Bytes, address, or stream.
  Address given;           // By malloc; 0: there was no memory.
};

class BareAllocator {
 public:
  // Device 0, of which `gpu` says how much memory it has, and where.
  BareAllocator(const Options& options, const GpuDecl& gpu);

  struct Outcome {
    ErrorCode code = ErrorCode::none;
    Address address;
  };
  Outcome allocate(const HeapRequest& request);  // Of any size.
  // `on`: the block is used by that stream too.
  void free(Block& block, std::optional<StreamKey> on);
  void process_events();
  void empty_cache();
  void set_memory_fraction(double fraction);
  ErrorCode reconfigure(const Options& wanted);
  void forget_stream(StreamKey stream);
  // Memory that is there at the start.
  void adopt_segment(const SegmentLayout& layout);

  // So many mallocs from now on find no memory.
  void refuse_mallocs(std::uint64_t count);
  WorkClock& clock() { return clock_; }
  // Whether an event is not known to be done: of that stream, or of any.
  bool is_pending(StreamKey stream) const { return queues_.contains(stream); }
  bool is_pending() const { return !queues_.empty(); }

  // The calls since the last clear_calls(), in order.
  const std::vector<BareCall>& calls() const { return calls_; }
  void clear_calls() { calls_.clear(); }

  Heap& heap() { return heap_; }
  const Heap& heap() const { return heap_; }
  const Options& options() const { return options_; }

 private:
  // A block that waits for an event, or the fence of a retired stream, for which no block need
  // wait.
  struct Pending {
    std::uint64_t event = 0;
    std::uint64_t done_at = 0;
    Block* block = nullptr;
  };
  using Queue = std::deque<Pending>;
  enum class Asked { given, no_memory, rejected };

  Outcome climb(const HeapRequest& request);
  Outcome last_rungs(const HeapRequest& request);
  Outcome conclude(Asked asked, const HeapRequest& request);
  Asked ask(const HeapRequest& request);
  std::optional<Address> malloc(Bytes size);
  void release(const std::vector<const Segment*>& segments);
  void wait_for_stream(StreamId stream);
  void wait_for_all_events();
  std::int32_t fence(StreamKey user, Block& block);
  void complete_first(Queue& queue);
  void drop_empty_queues();

  const Bytes memory_;
  Bytes used_;  // Of the memory, as the driver counts it.
  simulator::AddressSpace places_;
  Options options_;
  Heap heap_;
  std::optional<Bytes> limit_;
  std::map<StreamKey, Queue> queues_;
  WorkClock clock_;
  std::uint64_t events_ = 0;
  std::uint64_t retired_ = 0;
  std::uint64_t refusals_ = 0;
  std::vector<BareCall> calls_;
  Span given_;  // The segment that was asked for last.
};

}  // namespace cairn::testing
