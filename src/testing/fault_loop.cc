#include "testing/fault_loop.h"

#include <memory>
#include <utility>

#include "driver/recording_driver.h"

namespace cairn::testing {
namespace {

constexpr CudaStatus context_is_destroyed{709};
constexpr CudaStatus launch_failed{719};
constexpr CudaStatus ecc_uncorrectable{214};

using Errors = std::vector<CudaStatus>;

bool is_due(std::uint64_t at, std::uint64_t stride) {
  return stride != 0 && (at == 1 || at % stride == 0);
}

}  // namespace

std::map<DriverCall, std::uint64_t> count_calls(const Program& program) {
  const RecordingDriver* counter = nullptr;
  WorldOptions options;
  options.wrap_driver = [&counter](Driver& below) {
    auto made = std::make_unique<RecordingDriver>(below);
    counter = made.get();
    return made;
  };
  Play played(program, options);
  for (const Statement& statement : program.statements) {
    if (!played.step(statement)) break;
  }
  std::map<DriverCall, std::uint64_t> counts;
  for (int i = 0; i < driver_call_count; ++i) {
    const auto call = static_cast<DriverCall>(i);
    if (const std::uint64_t count = counter->calls(call); count != 0) counts[call] = count;
  }
  return counts;
}

const std::vector<CudaStatus>& documented_errors(DriverCall call) {
  using enum CudaStatus;
  static const Errors of_memory{out_of_memory, invalid_value, unknown, launch_failed,
                                ecc_uncorrectable};
  static const Errors of_events{invalid_handle, invalid_value, unknown, launch_failed,
                                illegal_address};
  static const Errors of_contexts{not_supported, invalid_handle, invalid_value, unknown,
                                  context_is_destroyed};
  switch (call) {
    case DriverCall::malloc:
    case DriverCall::free:
    case DriverCall::mem_info:
    case DriverCall::event_create:
      return of_memory;
    case DriverCall::ctx_record:
      return of_contexts;
    default:
      return of_events;
  }
}

std::vector<Fault> faults_of(const std::map<DriverCall, std::uint64_t>& calls,
                             const FaultLoop& loop) {
  std::vector<Fault> faults;
  for (const auto& [call, count] : calls) {
    const Errors& errors = documented_errors(call);
    std::uint64_t turn = 0;
    for (std::uint64_t at = 1; at <= count; ++at) {
      const bool is_lasting = is_due(at, loop.stride_of_lasting);
      if (!is_lasting && !is_due(at, loop.stride)) continue;
      const CudaStatus error = errors[turn++ % errors.size()];
      Fault fault{call, at, error, 1, is_sticky(error)};
      if (is_due(at, loop.stride)) faults.push_back(fault);
      fault.count.reset();
      if (is_lasting) faults.push_back(fault);
    }
  }
  return faults;
}

Program with_fault(const Program& program, const Fault& fault) {
  Program faulty;
  faulty.statements.push_back({});
  faulty.statements.back().operation = fault;
  faulty.statements.insert(faulty.statements.end(), program.statements.begin(),
                           program.statements.end());
  return faulty;
}

}  // namespace cairn::testing
