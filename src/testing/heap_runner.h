// How a tape becomes operations on a heap alone, and what is checked after each (see heap_run.h).
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "invariants/catalogue/report.h"
#include "testing/bare_allocator.h"
#include "testing/bare_model.h"
#include "testing/difference.h"
#include "testing/heap_run.h"
#include "testing/heap_story.h"
#include "testing/op.h"

namespace cairn::testing {

// What a setup says of a heap alone: devices, settings, a segment and streams.
struct HeapWorld {
  explicit HeapWorld(const Setup& setup);

  Setup setup;  // Without what a heap knows nothing of.
  std::vector<Statement> declarations;
  Options options;
  std::vector<Bytes> memory;  // By device.
};

class HeapRunner {
 public:
  // `story`, if not null, is told each operation. All of these must outlive the runner.
  HeapRunner(const HeapWorld& world, const HeapRunOptions& options, HeapStory* story);

  // All operations, and the end, or up to the first finding.
  HeapRun run(const std::vector<Op>& ops);

 private:
  // ---- the start ----
  void adopt(const SegmentDecl& declared, const std::vector<BlockDecl>& blocks);
  int add_stream(DeviceIndex device, std::optional<std::uint64_t> handle);

  // ---- heap_runner_operations.cc: each of these gives false where there was nothing to do ----
  bool execute(const Op& op);
  bool grow_or_shrink(const Op& op);  // Allocates or frees, as luck has it.
  bool plan_alloc(const Op& op);
  bool plan_free(const Op& op);
  bool plan_use(const Op& op);
  bool plan_bad_free(const Op& op);
  bool plan_sync(const Op& op);
  bool plan_poll(const Op& op);
  bool plan_make_stream(const Op& op);
  bool plan_destroy_stream(const Op& op);
  void plan_reconfigure(const Op& op);

  void allocate(const HeapStream& stream, Bytes size, Bytes alignment);
  Block* find(const HeapBlock& block);  // Null, and found, where the heap knows of none such.
  struct FreeWay {
    const HeapStream* on = nullptr;
    bool says_size = false;
    bool says_stream = false;
  };
  void free(std::size_t place, const FreeWay& way);
  void fail_to_free(Address address, std::optional<Bytes> size, const Free& said);
  void use(const HeapBlock& block, const HeapStream& stream);
  void work(const HeapStream& user, const HeapBlock& block);
  void sync(const HeapStream& stream);
  void sync_all();
  void poll();
  void empty_cache();
  void set_memory_fraction(double fraction);
  void reset(bool peak);
  void refuse_mallocs(std::uint64_t count);

  // ---- what the fields of an operation mean ----
  const std::vector<int>& streams_of(DeviceIndex device) const;
  const HeapStream& pick_stream(std::uint8_t index, DeviceIndex device) const;
  DeviceIndex device(const Op& op) const {
    return static_cast<DeviceIndex>(op.device % by_device_.size());
  }
  std::size_t pick_live(const Op& op) const { return op.block * live_.size() >> 16; }
  const HeapStream& own(const HeapBlock& block) const { return stream(block.stream); }
  const HeapStream& stream(int number) const { return streams_[static_cast<std::size_t>(number)]; }
  const HeapStream* alive_stream(StreamKey key) const;
  bool is_live_again(Span freed) const;  // A part of it.
  void list_streams();

  // ---- checks ----
  // Lets the model do the same. `same` gives what came of it: a model::Outcome or an ErrorCode.
  template <class Same>
  void follow(const BareAllocator::Outcome& outcome, Same&& same) {
    model_.begin(bare_.calls());
    compare_outcomes(outcome_of(same(model_.model())), outcome);
  }
  static model::Outcome outcome_of(model::Outcome outcome) { return outcome; }
  static model::Outcome outcome_of(ErrorCode code) { return {code, {}, {}}; }
  void compare_outcomes(const model::Outcome& foretold, const BareAllocator::Outcome& outcome);
  void check_handed_out(const HeapRequest& request, Address address);
  void check_operation();
  void check_violations();
  void check_maps();
  void check_nothing_left();
  void wind_down();
  void found(std::string expected, std::string instead);
  bool goes_on() const { return !run_.finding; }

  template <class Say>
  void tell(Say&& say) {
    if (story_ != nullptr) say(*story_);
  }

  const HeapWorld& world_;
  const HeapRunOptions& options_;
  HeapStory* const story_;
  const std::size_t most_live_;
  const std::size_t most_streams_;  // By name, at a time.
  invariants::Recorder recorder_;
  BareAllocator bare_;
  BareModel model_;
  std::vector<HeapStream> streams_;          // By number; 0 is the default stream.
  std::vector<int> alive_;                   // Their numbers, but for 0.
  std::vector<int> dead_;                    // Numbers of streams whose handle may come again.
  std::vector<std::vector<int>> by_device_;  // Streams that are alive; the default one may be last.
  std::uint64_t next_handle_;
  std::vector<HeapBlock> live_;                         // The oldest first.
  std::array<std::pair<HeapBlock, Span>, 16> freed_{};  // The latest, and where they lay.
  std::size_t freed_count_ = 0;
  int blocks_named_ = 0;
  HeapRun run_;
};

}  // namespace cairn::testing
