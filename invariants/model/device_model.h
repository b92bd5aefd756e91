// The model of one device: searches, asks the driver, splits, merges, waits, releases and counts as
// the documents say. What Model adds is the choice of the device and the checks at the door.
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/block_map.h"
#include "cairn/errors.h"
#include "cairn/options.h"
#include "cairn/stats.h"
#include "invariants/model/cuda_codes.h"
#include "invariants/model/events.h"
#include "invariants/model/ledger.h"
#include "invariants/model/memory.h"
#include "invariants/model/model.h"
#include "invariants/model/policy.h"
#include "invariants/model/streams.h"

namespace cairn::model {

// What the models of all devices have in common.
struct Surroundings {
  const Options& options;  // As they are now.
  const Streams& streams;
  Environment& environment;
};

class DeviceModel {
 public:
  // What `around` refers to must outlive the model.
  DeviceModel(DeviceIndex device, Bytes total_memory, const Surroundings& around);

  void add_initial_segment(const InitialSegment& initial);

  // REQUIRES: the request has passed the door (0 < size < 2^60, alignment is one we give), and
  // `stream` is what its handle names.
  Outcome allocate(const Request& request, StreamId stream);
  // Also for work of `user`, as if it had been recorded. If it fails nothing has changed.
  ErrorCode free(Place place, std::optional<StreamKey> user);
  void record_use(Place place, StreamKey user);
  // Knows the stream no more under this key; does nothing if it never did.
  ErrorCode forget(StreamKey key);
  ErrorCode process_events();
  ErrorCode empty_cache();
  void set_memory_fraction(double fraction);
  // The options say otherwise now what is oversize.
  void max_split_size_changed();

  // Takes note of what a driver call said, and gives it back.
  int noted(int cuda_code) {
    if (!is_lost_) is_lost_ = is_sticky_code(cuda_code);
    return cuda_code;
  }
  // After a sticky code no call is made any more.
  bool is_lost() const { return is_lost_; }

  const Memory& memory() const { return memory_; }
  BlockMap map() const;
  const DeviceStats& stats() const { return ledger_.stats(); }
  void reset_peak_stats() { ledger_.reset_peak(); }
  void reset_accumulated_stats() { ledger_.reset_accumulated(); }

 private:
  // A request, and what follows from it.
  struct Wanted {
    StreamId stream;
    Bytes requested;
    Bytes alignment;
    Bytes size;  // Rounded.
    PoolKind pool = PoolKind::small;
  };
  enum class Asked { given, no_memory, rejected, failed };
  enum class Release { enough, not_enough, driver_failed };

  // A segment that may be garbage.
  struct Candidate {
    Span span;
    std::int32_t age = 0;
  };

  // What uses have to be waited for, while an operation may still fail.
  struct Fencing {
    struct Fence {
      StreamKey queue;
      Event event;
      bool is_in_queue = false;  // As the fence of a retired stream is.
    };
    std::vector<Fence> fences;
    std::vector<Event> taken;
  };
  enum class Fenced { done, stream_is_gone, failed };

  // device_model.cc: blocks.
  std::optional<Place> best_fit(const Wanted& wanted) const;
  Outcome hand_out(Place place, const Wanted& wanted);
  void count_hand_out(const Segment& segment, const Block& found, const std::vector<Block>& pieces);
  void become_free(Place place);
  Block& merge_with_free_neighbours(Place place);

  // device_ladder.cc: the rungs of a request.
  Wanted wanted_of(const Request& request, StreamId stream) const;  // By the settings of now.
  Outcome from_asking_on(Wanted& wanted);
  Outcome last_rungs(Wanted& wanted);
  Asked ask(Wanted& wanted);
  Environment::Allocated malloc(Bytes size);
  bool is_possible(Span segment) const;
  Outcome conclude(Asked asked, Wanted& wanted);
  MemoryReport report_of(const Wanted& wanted) const;

  // device_release.cc: the way of segments back to the driver. False if the driver failed.
  bool collects_garbage() const;
  bool collect_garbage();
  std::vector<Candidate> garbage();
  std::optional<Bytes> collect_once(std::vector<Candidate>& left);
  Release release_oversize(const Wanted& wanted);
  bool release_all();
  bool release(Address segment);
  bool wait_for_stream(StreamId stream);
  int wait_by_its_reach(StreamId stream);

  // device_events.cc: fencing, looking, waiting. False if the driver failed.
  bool fence(StreamKey user, Fencing& fencing);
  Fenced fence_on_stream(StreamKey user, std::uint64_t handle, Fencing& fencing);
  bool fence_on_context(DeviceIndex device, Fencing& fencing);
  bool take_event(Context context, Fencing& fencing);
  void put_back_last(Fencing& fencing);
  void put_back_all(const Fencing& fencing);
  bool look_at_events();
  bool look_at_queue(StreamKey key);
  bool wait_for_all_events();
  void finish_first(StreamKey queue);

  // device_streams.cc
  bool is_own_stream(Place place, StreamKey user) const;
  bool knows(StreamKey key) const;
  void rename(StreamKey from, StreamKey to);

  std::uint64_t& searches(PoolKind pool) { return searches_[pool == PoolKind::small ? 0 : 1]; }

  const Options& options_;
  const Policy policy_;
  const Streams& streams_;
  Environment& environment_;
  const DeviceIndex device_;
  const Bytes total_memory_;
  bool is_lost_ = false;
  std::optional<Bytes> limit_;
  Bytes asked_;  // By requests that wait for the driver without the lock.
  std::array<std::uint64_t, 2> searches_{};
  Memory memory_;
  Events events_;
  // Of which a block became free since their work was last waited for.
  std::vector<StreamId> busy_streams_;
  std::uint64_t retired_count_ = 0;
  Ledger ledger_;
};

}  // namespace cairn::model
