// Work that is shared among processes, so that a crash in one is told, and by what it was working
// on. Not thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "invariants/catalogue/evaluations.h"

namespace cairn::testing {

// What one job has done, seen by all.
struct JobState {
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> working_on{0};  // A seed, or another number that says it.
  invariants::Evaluations evaluations{};     // Up to its end; not of one that was ended.
};

// Runs body(job, state) for the jobs 0 to `jobs` - 1, each in a process of its own, and gives the
// first exit code that is not 0, after which the other jobs are ended; a process that dies of a
// signal counts as 1 and is told of on stderr. `done` is the sum over all jobs; their evaluations
// of invariants are added to those of this process. REQUIRES: of these there were none before.
int run_jobs(int jobs, const std::function<int(int job, JobState& state)>& body,
             std::uint64_t& done);

}  // namespace cairn::testing
