// An injected failure at every driver call of a Program, one at a time. Each time the Program is
// played anew with one more `fault` at its start: the model must foretell what becomes of it, judge
// and checkers must hold, and when all is given back nothing may be left.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "driver/driver_call.h"
#include "testing/play.h"
#include "testing/program.h"

namespace cairn::testing {

// How many driver calls of each kind a Program makes when played, up to its end; kinds that it
// never makes are left out.
std::map<DriverCall, std::uint64_t> count_calls(const Program& program);

struct FaultLoop {
  // Only each `stride`th call of a kind is made to fail, from the first on. 1: all.
  std::uint64_t stride = 1;
  // How often, in the same way, the failure lasts for good as well. 0: never.
  std::uint64_t stride_of_lasting = 0;
};

// The faults of a loop over a Program that makes these calls. The documented errors of each call
// come in turn, those that lose the device and others by turns.
std::vector<Fault> faults_of(const std::map<DriverCall, std::uint64_t>& calls,
                             const FaultLoop& loop);

// The Program with the fault at its start.
Program with_fault(const Program& program, const Fault& fault);

}  // namespace cairn::testing
