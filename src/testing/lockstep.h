// The reference model beside the allocator. After each operation of the allocator the model does
// the same: its driver calls must be those that were recorded, in order, and are answered as the
// real ones were; its result, address and statistics must be the allocator's.
//
// Not thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "driver/recording_driver.h"
#include "invariants/model/model.h"
#include "testing/difference.h"

namespace cairn::testing {

// What the allocator did: the driver calls it made, and how it ended.
struct Deed {
  const std::vector<RecordedCall>& calls;
  ErrorCode code = ErrorCode::none;
  Address address{};  // Of an allocation that succeeded.
};

class Lockstep final : private model::Environment {
 public:
  Lockstep(const Options& options, int device_count) : model_(options, device_count, *this) {}

  void adopt(const model::InitialSegment& segment) { model_.add_initial_segment(segment); }

  // Each says in what the deed differs from what the model foretells.
  std::optional<Difference> allocate(const model::Request& request, const Deed& deed);
  std::optional<Difference> free(Address address, std::optional<Bytes> size,
                                 std::optional<StreamId> stream, const Deed& deed);
  std::optional<Difference> empty_cache(const Deed& deed);

  void reset_peak_stats() { model_.reset_peak_stats(); }
  void reset_accumulated_stats() { model_.reset_accumulated_stats(); }

  const model::Model& model() const { return model_; }

 private:
  Allocated malloc(DeviceIndex device, Bytes size) override;
  int free(DeviceIndex device, Address address) override;
  int mem_info(DeviceIndex device) override;

  void begin(const Deed& deed);
  std::optional<Difference> end(const Deed& deed, const model::Outcome& foretold);
  // The next recorded call if it is this one, else null, and from then on always.
  const RecordedCall* take(const RecordedCall& foretold);

  const std::vector<RecordedCall>* calls_ = nullptr;
  std::size_t next_call_ = 0;
  std::optional<Difference> difference_;
  model::Model model_;
};

}  // namespace cairn::testing
