// The inside of a World: what it holds, and a function for each statement.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "invariants/catalogue/report.h"
#include "testing/declarations.h"
#include "testing/expectations.h"
#include "testing/hooked_driver.h"
#include "testing/host_threads.h"
#include "testing/lockstep.h"
#include "testing/machine.h"
#include "testing/names.h"
#include "testing/streams.h"
#include "testing/world.h"

namespace cairn::testing {

StepResult ok();
StepResult finding(Difference difference);
StepResult mistake(std::string why);
StepResult unsupported(std::string why);

// As the allocator's callers name it.
Stream handle_of(StreamRef stream);

class World::Impl final : public DriverHook {
 public:
  Impl(const Program& program, const WorldOptions& options);

  StepResult step(const Statement& statement);
  StepResult finish();
  StepResult wind_down();
  StepResult end();
  std::vector<std::string> notes() const;
  std::vector<DeviceStats> stats();
  std::uint64_t operations() const { return operations_; }
  const Deed& deed() const { return now_.deed; }
  Machine& machine() { return machine_; }
  std::optional<StreamId> stream_id(const std::string& name) const { return streams_.id(name); }
  std::vector<RanBody> take_bodies() { return std::exchange(ran_bodies_, {}); }
  // Threads stand in it for ever.
  bool is_stuck() const { return is_stuck_; }

 private:
  // A declared segment whose blocks are still to come.
  struct OpenSegment {
    DeviceIndex device = 0;
    model::InitialSegment segment;
    StreamRef owner;
    std::vector<std::optional<std::string>> names;
    Bytes covered;
  };
  // An expected segment whose blocks are still to be compared.
  struct ExpectedSegment {
    SegmentInfo segment;
    std::size_t next_block = 0;
  };

  struct Ended {
    Error error;
    Address address;
  };
  static Ended ended_as(const Result<Address, Error>& result) {
    return result ? Ended{{}, *result} : Ended{result.error(), {}};
  }
  static Ended ended_as(const Result<Done, Error>& result) {
    return {result ? Error{} : result.error(), {}};
  }

  // What an operation of the allocator did, and in what that differs from what was foretold.
  struct Operated {
    const Deed& deed;
    std::optional<Difference> difference;
  };

  // What belongs to the statement that is carried out.
  struct Carried {
    const Statement* statement = nullptr;
    int thread = 0;
    bool operated = false;  // It made the allocator do something.
    Deed deed;
    std::optional<std::pair<int, int>> next_segment_place;  // Of the segment that it got.
    std::optional<Address> used_block;                      // Whose uses it may have changed.
    bool changed_streams = false;  // It may have changed the uses of all blocks.
    bool was_parallel = false;
  };

  StepResult step_on(int thread, const Statement& statement);
  StepResult carry_out(const Statement& statement);

  // ---- one for each statement (world_declarations.cc, world_operations.cc, world_streams.cc,
  // world_checks.cc) ----
  StepResult act(const GpuDecl& gpu);
  StepResult act(const Conf& conf);
  StepResult act(const SegmentDecl& declared);
  StepResult act(const BlockDecl& block);
  StepResult act(const Fault& fault);
  StepResult act(const NextSegment& next);
  StepResult act(const SetDevice& set);
  StepResult act(const MakeStream& make);
  StepResult act(const DestroyStream& destroy);
  StepResult act(const Launch& launch);
  StepResult act(const Order& order);
  StepResult act(const Advance& advance);
  StepResult act(const Sync& sync);
  StepResult act(const Alloc& alloc);
  StepResult act(const Free& free);
  StepResult act(const Use& use);
  StepResult act(const Poll& poll);
  StepResult act(const EmptyCache& empty);
  StepResult act(const MemoryFraction& limit);
  StepResult act(const Reconfigure& reconfigure);
  StepResult act(const Reset& reset);
  StepResult act(const Expect& expect);
  StepResult act(const ExpectSegment& expected);
  StepResult act(const ExpectBlock& expected);
  StepResult act(const During& during);
  StepResult act(const Parallel& parallel);
  StepResult act(const Schedule& schedule);
  template <class Other>
  StepResult act(const Other&) {
    return unsupported("this statement is not supported yet");
  }

  // ---- declarations ----
  StepResult install(const OpenSegment& open);

  // ---- operations ----
  // The statement's thread, and the device that it means.
  int thread() const { return now_.thread; }
  DeviceIndex current_device() const;
  std::optional<StepResult> missing_device(DeviceIndex device);
  // `s0`, `ptds` and what is new are on that device.
  Result<StreamRef, StepResult> stream(const std::string& name, DeviceIndex device);
  Result<StreamRef, StepResult> stream(const std::string& name) {
    return stream(name, current_device());
  }
  // One on which work can be put.
  Result<StreamRef, StepResult> working_stream(const std::string& name);
  Result<Address, StepResult> target_of(const Free& free) const;
  FreeCheck check_of(const Free& free, Address address, std::optional<StreamRef> stream);
  Result<simulator::Touch, StepResult> touch_of(const Touch& touch) const;
  StepResult bind(const Alloc& alloc, StreamRef stream, Address address);
  StepResult free_on(Address address, const std::string& stream);
  StepResult conclude_free(const Operated& operated, Address address,
                           std::optional<simulator::StreamNumber> on);
  // The names of live blocks whose stream was retired follow it.
  void follow_retired(DeviceIndex device, StreamId id);
  void note_out_of_memory(const Request& request, const Error& error);
  void note_next_segment(const std::vector<RecordedCall>& calls);

  // Lets the allocator do something, and the model the same. What these hold on to lives as long as
  // the World, or is theirs.
  template <class Act, class Same>
  Operated operate(Act act, Same same) {
    now_.operated = true;
    if (is_interleaved()) {
      const auto ended = [act](AllDevices& allocator) { return ended_as(act(allocator)); };
      return operate_among_others(ended, Lockstep::as_same(same));
    }
    const Ended ended = ended_as(act(machine_.allocator()));
    now_.deed = Deed{machine_.take_calls(), ended.error, ended.address};
    Operated operated{now_.deed, {}};
    if (lockstep_) operated.difference = lockstep_->follow(now_.deed, same);
    return operated;
  }
  // How an operation went, set against what the statement says.
  StepResult conclude(const Error& error) const;
  StepResult conclude(const Operated& operated) const;

  // ---- operations that others run within or beside (world_during.cc, world_parallel.cc) ----
  struct Operation;
  struct Together;
  // A `during` whose call is still to come.
  struct OpenDuring {
    During during;
    std::size_t which = 0;  // Of all, in order.
    int line = 0;
    int column = 0;
    std::uint64_t calls_seen = 0;
  };
  using Act = std::function<Ended(AllDevices&)>;

  void register_callbacks();
  bool is_interleaved() const { return together_ != nullptr || !durings_.empty(); }
  Operated operate_among_others(const Act& act, const Lockstep::Same& same);
  void before(DriverCall call, DeviceIndex device) override;
  void after() override;
  void run_within_call(const std::vector<OpenDuring>& due);
  void refuse_body(const OpenDuring& open);
  void run_body(const OpenDuring& open);
  std::optional<StepResult> unmade_during() const;
  // Of `parallel`.
  Scheduler::Outcome run_together(const Parallel& parallel, Together& together);
  int next_thread(Together& together, const Scheduler::Point& point) const;
  void write_body(const Parallel& parallel, const Together& together,
                  const std::vector<int>& schedule);
  void run_lines(int thread, const std::vector<const Statement*>& lines);
  StepResult conclude_parallel(Together& together, const std::string& fault);
  int rank_of(const void* mutex) const;
  // The names of what is given back: gone before the call, and back after all if it fails.
  void give_up(Address address, std::optional<simulator::StreamNumber> on);
  void take_again(const Together& together);
  DeviceStats read_stats(DeviceIndex device);
  BlockMap read_map(DeviceIndex device);
  template <class What, class Read, class Foretell>
  What read_together(Read read, Foretell foretell);

  // ---- checks (world_checks.cc) ----
  StepResult check_all(StepResult result, const invariants::Recorder& recorder);
  std::optional<StepResult> check_gpu();
  bool is_excused(simulator::ViolationKind kind) const;
  // What was reported so far; thoroughly: after all checkers ran.
  std::optional<Difference> check_allocator(const invariants::Recorder& recorder, bool thoroughly);
  static std::optional<Difference> reported_by(const invariants::Recorder& recorder);
  std::optional<Difference> check_live_blocks();
  std::optional<Difference> check_live_block(const std::string& name, const Range& range);
  std::optional<Difference> check_lockstep(bool with_maps);
  std::optional<Difference> check_uses(bool of_all);
  std::optional<Difference> check_uses_of(const Range& range);
  // Of wind_down(): whether the block stays for ever; and what must hold where none does.
  bool is_stuck(const StepResult& freed) const;
  std::optional<Difference> check_nothing_left(DeviceIndex device);
  DeviceIndex device_count() { return machine_.allocator().device_count(); }

  WorldOptions options_;
  Settings settings_;
  std::vector<OpenDuring> durings_;
  std::size_t durings_seen_ = 0;
  bool is_in_body_ = false;
  std::optional<StepResult> body_result_;  // Of a body that ran within the statement.
  std::vector<RanBody> ran_bodies_;
  Together* together_ = nullptr;  // While a `parallel` runs.
  std::vector<int> schedule_;     // Of the next one.
  bool is_stuck_ = false;
  Machine machine_;
  std::optional<Lockstep> lockstep_;
  Names names_;
  Streams streams_;
  HostThreads threads_;
  std::map<int, DeviceIndex> current_devices_;  // By thread; 0 where there is no entry.
  Expectations::Reports out_of_memory_;
  std::optional<OpenSegment> open_segment_;
  std::optional<ExpectedSegment> expected_segment_;
  std::map<DeviceIndex, std::pair<int, int>> next_segment_places_;  // Line and column.
  std::size_t confs_ = 0;                                           // `conf` lines stepped over.
  std::size_t gpu_mistakes_ = 0;                                    // Told of already.
  std::size_t excused_violations_ = 0;                              // The first so many are.
  std::uint64_t operations_ = 0;                                    // Of the allocator.
  bool has_stuck_ = false;                                          // Likewise, a live block.
  std::set<DeviceIndex> lost_devices_;                              // Seen by wind_down().

  Carried now_;
};

}  // namespace cairn::testing
