// Counts what a target of tapes carries out, and says so when the process ends: one line
// `NAME: operations: N`, one of the invariants never evaluated where all are looked at, and the
// histogram of operations if CAIRN_HISTOGRAM is set.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "fuzz/fuzz_world.h"
#include "invariants/catalogue/evaluations.h"
#include "testing/op_run.h"

namespace cairn::fuzz {

class Tally {
 public:
  explicit Tally(std::string target) : target_(std::move(target)) {
    invariants::print_evaluations_at_exit_if_wanted();
  }
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;
  ~Tally() {
    std::fprintf(stderr, "%s: operations: %llu\n", target_.c_str(),
                 static_cast<unsigned long long>(operations_));
    if constexpr (checks_all) std::fputs(invariants::never_evaluated_in_words().c_str(), stderr);
    if (std::getenv("CAIRN_HISTOGRAM") != nullptr) std::fputs(in_words(histogram_).c_str(), stderr);
  }

  void add(std::uint64_t operations, const testing::Histogram& histogram) {
    operations_ += operations;
    histogram_ += histogram;
  }

 private:
  std::string target_;
  std::uint64_t operations_ = 0;
  testing::Histogram histogram_;
};

}  // namespace cairn::fuzz
