// The reference model beside the allocator. After each operation of the allocator the model does
// the same: its driver calls must be those that were recorded, in order, and are answered as the
// real ones were; its result, address, quantities of a failure and statistics must be the
// allocator's.
//
// Not thread-safe. The thread that calls is the one whose operation the model foretells.
#pragma once

#include <optional>
#include <vector>

#include "cairn/errors.h"
#include "driver/recording_driver.h"
#include "invariants/model/model.h"
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
    begin(deed);
    return end(deed, outcome(same(model_)));
  }

  model::Model& model() { return model_; }
  const model::Model& model() const { return model_; }

 private:
  std::uint64_t thread_number() override;
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

  static model::Outcome outcome(model::Outcome outcome) { return outcome; }
  static model::Outcome outcome(ErrorCode code) { return {code, {}, {}}; }

  void begin(const Deed& deed);
  std::optional<Difference> end(const Deed& deed, const model::Outcome& foretold);
  // The next recorded call if it is this one, else null, and from then on always.
  const RecordedCall* take(const RecordedCall& foretold);
  int status(const RecordedCall& foretold);  // How it ended.

  const std::vector<RecordedCall>* calls_ = nullptr;
  std::size_t next_call_ = 0;
  std::optional<Difference> difference_;
  model::Model model_;
};

}  // namespace cairn::testing
