#include "testing/fault_loop.h"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "driver/recording_driver.h"
#include "testing/documented_errors.h"

namespace cairn::testing {
namespace {

bool is_due(std::uint64_t at, std::uint64_t stride) {
  return stride != 0 && (at == 1 || at % stride == 0);
}

// The documented errors of a call for ever, one that loses the device after one that does not.
class Turns {
 public:
  explicit Turns(DriverCall call) {
    for (const DocumentedError& error : documented_errors(call))
      of_[is_sticky(error.status) ? 1 : 0].push_back(error.status);
  }
  CudaStatus next() {
    const auto& errors = of_[turn_ % of_.size()];
    return errors[turn_++ / of_.size() % errors.size()];
  }

 private:
  std::array<std::vector<CudaStatus>, 2> of_;
  std::size_t turn_ = 0;
};

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

std::vector<Fault> faults_of(const std::map<DriverCall, std::uint64_t>& calls,
                             const FaultLoop& loop) {
  std::vector<Fault> faults;
  for (const auto& [call, count] : calls) {
    Turns errors(call);
    for (std::uint64_t at = 1; at <= count; ++at) {
      const bool is_lasting = is_due(at, loop.stride_of_lasting);
      if (!is_lasting && !is_due(at, loop.stride)) continue;
      const CudaStatus error = errors.next();
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
