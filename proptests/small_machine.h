// An allocator on one small device, and whoever watches it: the judge of the simulated GPU, and the
// rules of the driver's use. Between them stands a driver that may be strange, or fail.
//
// Not thread-safe, but for what the allocator and the drivers are.
#pragma once

#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/allocator.h"
#include "driver/fault_injector.h"
#include "driver/protocol_checker.h"
#include "invariants/catalogue/report.h"
#include "simulator/simulated_driver.h"
#include "simulator/simulated_gpu.h"
#include "strange_driver.h"

namespace cairn::proptests {

inline Stream as_stream(std::uint64_t handle) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA's handles are such pointers.
  return reinterpret_cast<Stream>(static_cast<std::uintptr_t>(handle));
}

class SmallMachine {
 public:
  struct Held {
    void* pointer;
    std::size_t size;
  };

  explicit SmallMachine(const Options& options = {}, std::uint64_t memory_mib = 256)
      : gpu({{.memory = Bytes{memory_mib << 20}}}) {
    for (int i = 0; i < 3; ++i) streams.push_back(gpu.make_stream({})->handle);
    allocator.emplace(strange, options);
  }

  Stream stream(std::size_t index) const { return as_stream(streams[index % streams.size()]); }
  // Null and `why`, where there is none.
  void* allocate(std::size_t size, std::size_t on, Error* why = nullptr) {
    void* const pointer = allocator->try_allocate({size, 0, stream(on)}, why);
    if (pointer != nullptr) held.push_back({pointer, size});
    return pointer;
  }
  void free(std::size_t index) {
    const auto place = held.begin() + static_cast<std::ptrdiff_t>(index % held.size());
    allocator->free(place->pointer);
    held.erase(place);
  }
  // What is live is what the caller holds, and no invariant or rule was broken.
  void check() const {
    const DeviceStats stats = allocator->stats(0);
    RC_ASSERT(stats.allocation.all.current == static_cast<std::int64_t>(held.size()));
    std::size_t live = 0;
    for (const SegmentInfo& segment : allocator->block_map(0)) {
      for (const BlockInfo& block : segment.blocks)
        live += block.state == BlockState::active_allocated ? 1 : 0;
    }
    RC_ASSERT(live == held.size());
    check_watchers();
  }
  void check_watchers() const {
    if (!recorder.violations().empty()) RC_FAIL(to_string(recorder.violations().front()));
    if (!broken.empty()) RC_FAIL(broken);
    if (gpu.violation_count() != 0) RC_FAIL(gpu.violations().front().message);
  }
  // All is freed and given back; then the device is as it was.
  void wind_down() {
    while (!held.empty()) free(0);
    allocator->empty_cache();
    check();
    RC_ASSERT(allocator->stats(0).reserved_bytes.all.current == 0);
    allocator.reset();
    rules.expect_all_back();
    check_watchers();
  }

  invariants::Recorder recorder;
  simulator::SimulatedGpu gpu;
  simulator::SimulatedDriver bottom{gpu};
  FaultInjector faults{bottom};
  std::string broken;  // The first rule of the driver's use that was.
  ProtocolChecker rules{faults, [this](const ProtocolViolation& seen) {
                          if (broken.empty()) broken = seen.message;
                        }};
  StrangeDriver strange{rules};
  std::vector<std::uint64_t> streams;
  std::optional<Allocator> allocator;
  std::vector<Held> held;
};

}  // namespace cairn::proptests
