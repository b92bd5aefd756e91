#include "plan.h"

#include <map>

#include "testing/documented_errors.h"

namespace cairn::faults {
namespace {

constexpr CudaStatus launch_failed{719};

}  // namespace

std::string_view to_string(Mode mode) {
  switch (mode) {
    case Mode::once:
      return "once";
    case Mode::from_then_on:
      return "from then on";
    case Mode::sticky:
      return "sticky";
  }
  return "";
}

std::vector<Site> sites_of(const Watched& watched, std::size_t begin, std::size_t end) {
  std::map<DriverCall, std::uint64_t> counts;
  std::vector<Site> sites;
  for (std::size_t place = 0; place < end && place < watched.calls.size(); ++place) {
    const DriverCall call = watched.calls[place].call;
    ++counts[call];
    if (place >= begin) sites.push_back({call, counts[call], place});
  }
  return sites;
}

std::vector<ErrorInMode> errors_of(DriverCall call) {
  std::vector<ErrorInMode> errors;
  for (const testing::DocumentedError& error : testing::documented_errors(call)) {
    for (const Mode mode : all_modes) {
      if (mode != Mode::sticky || testing::loses_device(error.status))
        errors.push_back({error.status, mode});
    }
  }
  return errors;
}

testing::Fault fault_at(const Site& site, const ErrorInMode& error) {
  testing::Fault fault{site.call, site.at, error.error, 1, error.mode == Mode::sticky};
  if (error.mode == Mode::from_then_on) fault.count.reset();
  return fault;
}

CudaStatus error_that_leads_on(DriverCall call) {
  switch (call) {
    case DriverCall::malloc:
      return CudaStatus::out_of_memory;
    case DriverCall::ctx_record:
      return CudaStatus::not_supported;
    case DriverCall::event_record:
    case DriverCall::stream_sync:
    case DriverCall::stream_ctx:
    case DriverCall::stream_id:
      return CudaStatus::invalid_handle;
    default:
      return CudaStatus::unknown;
  }
}

std::array<ErrorInMode, 2> second_errors(DriverCall call) {
  return {{{error_that_leads_on(call), Mode::once}, {launch_failed, Mode::sticky}}};
}

std::vector<Site> spread(const std::vector<Site>& sites, std::size_t most) {
  if (sites.size() <= most || most < 2) return sites;
  std::vector<Site> chosen;
  for (std::size_t i = 0; i < most; ++i)
    chosen.push_back(sites[i * (sites.size() - 1) / (most - 1)]);
  return chosen;
}

}  // namespace cairn::faults
