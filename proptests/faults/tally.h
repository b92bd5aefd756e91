// What a run of the matrix did, counted, and written as lines of words with tabs between.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>

#include "driver/driver_call.h"
#include "plan.h"

namespace cairn::faults {

struct OfScenario {
  std::uint64_t calls = 0;          // Of the Program alone, without faults.
  std::uint64_t calls_of_ending{};  // When the allocator is destroyed after it, and before.
  std::uint64_t single_faults = 0;  // That came.
  std::uint64_t pairs = 0;          // Of faults that both came.
};

struct Tally {
  struct Count {
    std::uint64_t planned = 0;
    std::uint64_t came = 0;
  };
  std::map<std::tuple<DriverCall, ErrorInMode>, Count> by_error;
  // By the place in the program file at which a call is made.
  std::map<std::tuple<std::uintptr_t, DriverCall, ErrorInMode>, std::uint64_t> by_site;
  std::map<std::string, OfScenario> by_scenario;
  Count pairs;
  std::uint64_t plays = 0;

  void count(const WatchedCall& call, const ErrorInMode& error, bool has_come);
  // With the probes that this process hit.
  void write(std::FILE* file) const;
};

}  // namespace cairn::faults
