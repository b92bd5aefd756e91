// Which faults a scenario is to meet: each driver call that it makes, with each error that CUDA
// documents for that call, in each mode; and pairs of faults. Thread safety: pure functions.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "driver/cuda_status.h"
#include "driver/driver_call.h"
#include "testing/program.h"
#include "watch.h"

namespace cairn::faults {

enum class Mode {
  once,
  from_then_on,  // Every call of that kind, on any device.
  sticky,        // Every call of that device, as CUDA does after an error that loses it.
};
inline constexpr std::array all_modes{Mode::once, Mode::from_then_on, Mode::sticky};
std::string_view to_string(Mode mode);

// A driver call of a run.
struct Site {
  DriverCall call = DriverCall::malloc;
  std::uint64_t at = 1;   // The so-many-th of its kind, from the start of the Program.
  std::size_t place = 0;  // Among the calls of all kinds.
};
// The calls of these places, `begin` to `end` - 1.
std::vector<Site> sites_of(const Watched& watched, std::size_t begin, std::size_t end);

struct ErrorInMode {
  CudaStatus error = CudaStatus::unknown;
  Mode mode = Mode::once;
  friend auto operator<=>(const ErrorInMode&, const ErrorInMode&) = default;
};
// Each documented error once and from then on; those that lose the device sticky too.
std::vector<ErrorInMode> errors_of(DriverCall call);

testing::Fault fault_at(const Site& site, const ErrorInMode& error);

// The error of the call after which the allocator goes on along another road, or the plainest.
CudaStatus error_that_leads_on(DriverCall call);
// What the second fault of a pair is.
std::array<ErrorInMode, 2> second_errors(DriverCall call);

// At most so many of them, evenly spread, the first and the last among them.
std::vector<Site> spread(const std::vector<Site>& sites, std::size_t most);

}  // namespace cairn::faults
