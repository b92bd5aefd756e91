// The reference model beside the allocator. After each operation of the allocator the model does
// the same: its driver calls must be those that were recorded, in order, and are answered as the
// real ones were; its result, address, quantities of a failure and statistics must be the
// allocator's. An operation during which others ran is foretold in phases, one for each time that
// it had the lock.
//
// Not thread-safe. The thread that calls is the one whose operation the model foretells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cairn/errors.h"
#include "driver/recording_driver.h"
#include "invariants/model/model.h"
#include "testing/aside.h"
#include "testing/deed.h"
#include "testing/difference.h"

namespace cairn::testing {

class Lockstep final : private model::Environment {
 public:
  Lockstep(const Options& options, const std::vector<Bytes>& total_memory)
      : model_(options, total_memory, *this) {}

  // In what the deed differs from what the model foretells. `same` lets a model::Model do the same,
  // and gives what came of it: a model::Outcome or an ErrorCode.
  template <class Same>
  std::optional<Difference> follow(const Deed& deed, Same&& same) {
    Progress progress;
    progress.calls = &deed.calls;
    now_ = &progress;
    return end(progress, deed, outcome(same(model_)));
  }

  // Lets a model::Model do what the allocator does.
  using Same = std::function<model::Outcome(model::Model&)>;
  template <class Act>
  static Same as_same(Act act) {
    return [act](model::Model& model) { return outcome(act(model)); };
  }

  class InPhases;
  // From now on there are free-memory callbacks, so that a request has a phase before them.
  void expect_callbacks() { has_callbacks_ = true; }

  model::Model& model() { return model_; }
  const model::Model& model() const { return model_; }

 private:
  std::uint64_t thread_number() override;
  void call_back() override;
  Allocated malloc(DeviceIndex device, Bytes size) override;
  int free(DeviceIndex device, Address address) override;
  Memory mem_info(DeviceIndex device) override;
  Number event_create(DeviceIndex device, std::uint64_t context) override;
  int event_record(DeviceIndex device, std::uint64_t stream, std::uint64_t event) override;
  Queried event_query(DeviceIndex device, std::uint64_t event) override;
  int event_sync(DeviceIndex device, std::uint64_t event) override;
  int ctx_record(DeviceIndex device, std::uint64_t event) override;
  int stream_sync(DeviceIndex device, std::uint64_t stream) override;
  int device_sync(DeviceIndex device) override;
  Number stream_ctx(DeviceIndex device, std::uint64_t stream) override;
  Number stream_id(DeviceIndex device, std::uint64_t stream) override;

  // How far the model has followed an operation.
  struct Progress {
    const std::vector<RecordedCall>* calls = nullptr;
    std::size_t next_call = 0;
    std::optional<Difference> difference;
    Aside* aside = nullptr;    // Where the model waits for calls that are still to come.
    std::uint64_t thread = 0;  // The operation's, where there is an aside.
    bool is_whole = false;     // No more calls are to come.
  };

  static model::Outcome outcome(model::Outcome outcome) { return outcome; }
  static model::Outcome outcome(ErrorCode code) { return {code, {}, {}}; }

  static std::optional<Difference> end(Progress& progress, const Deed& deed,
                                       const model::Outcome& foretold);
  // The next recorded call if it is this one, else null, and from then on always.
  const RecordedCall* take(const RecordedCall& foretold);
  int status(const RecordedCall& foretold);  // How it ended.

  Progress* now_ = nullptr;  // Of the operation that the model is in.
  bool has_callbacks_ = false;
  model::Model model_;
};

// One operation of the model, as far as the allocator's has come. Others may be followed, or go on
// in phases of their own, between two calls of this. Where the allocator has made all calls of a
// phase the model asks for the next one too early: it waits until that is made.
class Lockstep::InPhases {
 public:
  // The thread that calls is the one that makes the operation.
  InPhases(Lockstep& lockstep, Same same);

  // Goes on as far as these calls, which are those of before and more.
  void go_on(const std::vector<RecordedCall>& calls);
  // To the end. In what the deed differs.
  std::optional<Difference> end(const Deed& deed);

 private:
  Lockstep& lockstep_;
  const Same same_;
  Progress progress_;
  model::Outcome outcome_;
  Aside aside_;
};

}  // namespace cairn::testing
