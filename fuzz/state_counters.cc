#include "fuzz/state_counters.h"

#include <algorithm>
#include <array>
#include <bit>

namespace cairn::fuzz {
namespace {

using testing::StepResult;

// More would let the corpus grow with inputs that differ in nothing else.
constexpr std::size_t counter_count = 4096;
__attribute__((section("__libfuzzer_extra_counters"))) std::array<std::uint8_t, counter_count>
    counters;

// 0, 1, 2, 3-4, 5-8 ...
std::uint64_t bucket(std::int64_t count) {
  return count <= 0 ? 0 : 1 + std::bit_width(static_cast<std::uint64_t>(count) - 1);
}

// Whether it is one of those that change what is free, live or pending, and make the deed.
bool is_operation(const testing::Statement& statement) {
  using testing::Alloc, testing::EmptyCache, testing::Free, testing::Poll, testing::Use;
  const auto is = [&]<class... Kind>() {
    return (std::holds_alternative<Kind>(statement.operation) || ...);
  };
  return is.operator()<Alloc, EmptyCache, Free, Poll, Use>();
}

void mark(std::uint64_t state) {
  const std::uint64_t mixed = (state + 1) * 0x9e3779b97f4a7c15;
  counters[mixed >> 52] = 1;
}
static_assert(counter_count == std::size_t{1} << (64 - 52));

}  // namespace

std::optional<testing::Difference> StateCounters::after(const testing::Statement& statement,
                                                        const StepResult& result,
                                                        const testing::World& world) {
  const std::size_t kind = statement.operation.index();
  const bool is_ok = result.kind == StepResult::Kind::ok;
  if (std::holds_alternative<testing::Alloc>(statement.operation) && is_ok) ++live_;
  if (std::holds_alternative<testing::Free>(statement.operation) && is_ok) --live_;
  if (!is_operation(statement)) return std::nullopt;
  for (const RecordedCall& call : world.deed().calls) {
    if (call.status != CudaStatus::success) continue;
    if (call.call == DriverCall::event_record) ++pending_events_;
    if (call.call == DriverCall::event_query && call.is_done) --pending_events_;
    if (call.call == DriverCall::malloc) ++segments_;
    if (call.call == DriverCall::free) --segments_;
  }
  const std::uint64_t calls = bucket(static_cast<std::int64_t>(world.deed().calls.size()));
  const auto error = static_cast<std::uint64_t>(result.error);
  mark(1 << 24 | static_cast<std::uint64_t>(std::clamp<std::int64_t>(live_, 0, 63)) << 8 |
       bucket(segments_));
  mark(2 << 24 | bucket(pending_events_) << 16 | bucket(live_) << 8 | kind);
  mark(3 << 24 | last_kind_ << 16 | kind << 8 | error);
  mark(4 << 24 | calls << 16 | kind << 8 | error);
  last_kind_ = kind;
  return std::nullopt;
}

}  // namespace cairn::fuzz
