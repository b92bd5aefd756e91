// Tells libFuzzer which states a run came to, as if each were a branch that was taken: a state is
// rough (how many blocks are live, how many events pending, what was done last), and each sets a
// counter of its own. Without libFuzzer the counters are there and nobody reads them.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "testing/world.h"

namespace cairn::fuzz {

class StateCounters final : public testing::Observer {
 public:
  std::optional<testing::Difference> after(const testing::Statement& statement,
                                           const testing::StepResult& result,
                                           const testing::World& world) override;

 private:
  std::int64_t live_ = 0;
  std::int64_t pending_events_ = 0;
  std::int64_t segments_ = 0;
  std::size_t last_kind_ = 0;
};

}  // namespace cairn::fuzz
