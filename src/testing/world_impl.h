// The inside of a World: what it holds, and a function for each statement.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "invariants/catalogue/report.h"
#include "testing/declarations.h"
#include "testing/expectations.h"
#include "testing/lockstep.h"
#include "testing/machine.h"
#include "testing/names.h"
#include "testing/world.h"

namespace cairn::testing {

StepResult ok();
StepResult finding(Difference difference);
StepResult mistake(std::string why);
StepResult unsupported(std::string why);

class World::Impl {
 public:
  Impl(const Program& program, const WorldOptions& options);

  StepResult step(const Statement& statement);
  StepResult finish();
  std::vector<std::string> notes() const;
  std::vector<DeviceStats> stats();

 private:
  // A declared segment whose blocks are still to come.
  struct OpenSegment {
    DeviceIndex device = 0;
    model::InitialSegment segment;
    std::vector<std::optional<std::string>> names;
    Bytes covered;
  };
  // An expected segment whose blocks are still to be compared.
  struct ExpectedSegment {
    SegmentInfo segment;
    std::size_t next_block = 0;
  };

  // ---- one for each statement (world_declarations.cc, world_operations.cc, world_checks.cc) ----
  StepResult act(const GpuDecl& gpu);
  StepResult act(const Conf& conf);
  StepResult act(const SegmentDecl& declared);
  StepResult act(const BlockDecl& block);
  StepResult act(const Fault& fault);
  StepResult act(const NextSegment& next);
  StepResult act(const SetDevice& set);
  StepResult act(const MakeStream& make);
  StepResult act(const Advance& advance);
  StepResult act(const Sync& sync);
  StepResult act(const Alloc& alloc);
  StepResult act(const Free& free);
  StepResult act(const EmptyCache& empty);
  StepResult act(const ThreadExit& exit);
  StepResult act(const Reset& reset);
  StepResult act(const Expect& expect);
  StepResult act(const ExpectSegment& expected);
  StepResult act(const ExpectBlock& expected);
  template <class Other>
  StepResult act(const Other&) {
    return unsupported("this statement is not supported yet");
  }

  // ---- declarations ----
  StepResult install(const OpenSegment& open);

  // ---- operations ----
  // The statement's thread, and the device that it means.
  int thread() const { return statement_->thread.value_or(0); }
  DeviceIndex current_device() const;
  std::optional<StepResult> missing_device(DeviceIndex device);
  Result<StreamId, StepResult> stream(const std::string& name);
  Result<Address, StepResult> target_of(const Free& free) const;
  std::optional<FreeCheck> check_of(const Free& free, Address address,
                                    std::optional<StreamId> stream) const;
  StepResult bind(const Alloc& alloc, const Request& request, Address address);
  // How an operation went, set against what the statement says.
  StepResult conclude(const Error& error) const;
  void note_out_of_memory(const Request& request, const std::vector<RecordedCall>& calls);

  // ---- checks (world_checks.cc) ----
  StepResult check_all(const StepResult& result, invariants::Recorder& recorder);
  std::optional<StepResult> check_gpu();
  // What was reported so far; thoroughly: after all checkers ran.
  std::optional<Difference> check_allocator(invariants::Recorder& recorder, bool thoroughly);
  std::optional<Difference> check_live_blocks();
  std::optional<Difference> check_live_block(const std::string& name, const Range& range);
  std::optional<Difference> check_lockstep(bool with_maps);
  DeviceIndex device_count() { return machine_.allocator().device_count(); }

  WorldOptions options_;
  Settings settings_;
  Machine machine_;
  std::optional<Lockstep> lockstep_;
  Names names_;
  Streams streams_;
  std::map<int, DeviceIndex> current_devices_;  // By thread; 0 where there is no entry.
  Expectations::Reports out_of_memory_;
  std::optional<OpenSegment> open_segment_;
  std::optional<ExpectedSegment> expected_segment_;
  std::map<DeviceIndex, std::pair<int, int>> next_segment_places_;  // Line and column.
  std::size_t confs_ = 0;                                           // `conf` lines stepped over.
  std::size_t gpu_mistakes_ = 0;                                    // Told of already.
  std::uint64_t operations_ = 0;                                    // Of the allocator.
  bool operated_ = false;  // The statement made the allocator do something.
  const Statement* statement_ = nullptr;
};

}  // namespace cairn::testing
