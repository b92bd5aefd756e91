// The reference model beside a BareAllocator: it does the same after each operation, is answered as
// the other's calls were, and must make the same ones in the same order. How events are named and
// pooled is not compared; they are done by a clock of its own, on which the same is put.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "invariants/model/model.h"
#include "testing/bare_allocator.h"
#include "testing/difference.h"

namespace cairn::testing {

class BareModel final : private model::Environment {
 public:
  BareModel(const Options& options, const std::vector<Bytes>& memory)
      : memory_(memory.front()), model_(options, memory, *this) {}

  model::Model& model() { return model_; }

  // Before the model does what those calls came of; and in what it then differed.
  void begin(const std::vector<BareCall>& calls) {
    calls_ = &calls;
    next_call_ = 0;
  }
  std::optional<Difference> end();

  WorkClock& clock() { return clock_; }

 private:
  std::uint64_t thread_number() override { return 0; }
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

  const BareCall* take(const BareCall& foretold);
  int unforeseen(const char* call);
  std::uint64_t& done_at(std::uint64_t event) { return events_[event - 1]; }

  const Bytes memory_;
  const std::vector<BareCall>* calls_ = nullptr;
  std::size_t next_call_ = 0;
  std::optional<Difference> difference_;
  WorkClock clock_;
  std::vector<std::uint64_t> events_;  // When each is done, by handle, from 1.
  model::Model model_;
};

}  // namespace cairn::testing
