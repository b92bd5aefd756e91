// What happens when memory is short, and what must not happen when it is not.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "policy.h"
#include "promises.h"
#include "testing/printer.h"

namespace cairn::testing {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

template <class Promised>
std::unique_ptr<Promise> make(Tally& tally) {
  return std::make_unique<Promised>(tally);
}

// The allocation, if there is one to judge: of some bytes, and of no more than requests may have.
const Alloc* request_of(const Sight& sight) {
  const auto* alloc = sight.as<Alloc>();
  const bool is_possible =
      alloc != nullptr && alloc->size > Bytes{0} && alloc->size < Bytes{request_limit_bytes};
  return is_possible ? alloc : nullptr;
}

// None where it has no free memory, as nothing was ever handed out to its stream.
std::optional<Wanted> wanted_by(const Sight& sight, const Alloc& alloc) {
  const auto stream = sight.book.stream(sight.statement);
  if (!stream) return std::nullopt;
  const std::uint64_t alignment = std::max<std::uint64_t>(512, alloc.align.value_or(Bytes{}).count);
  return Wanted{round_request(alloc.size.count, sight.book.settings()), alignment, *stream};
}

std::uint64_t segment_of(const Sight& sight, const Alloc& alloc) {
  const Options& settings = sight.book.settings();
  return segment_for(round_request(alloc.size.count, settings), settings);
}

std::uint64_t bytes_of(const BlockMap& map, BlockState state) {
  std::uint64_t bytes = 0;
  for (const SegmentInfo& segment : map) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == state) bytes += block.size_bytes;
    }
  }
  return bytes;
}

std::uint64_t reserved_of(const BlockMap& map) {
  std::uint64_t bytes = 0;
  for (const SegmentInfo& segment : map) bytes += segment.size_bytes;
  return bytes;
}

std::string outcome_of(const Sight& sight) {
  if (sight.error() != ErrorCode::none) return to_string(sight.error());
  return print_address(sight.deed->address);
}

// A request that free memory of its stream fits is served from it: the driver is not asked for
// more, and nothing fails unless the driver did.
class MustSucceed final : public Promise {
 public:
  using Promise::Promise;

  std::optional<Difference> after(const Sight& sight) override {
    const Alloc* alloc = request_of(sight);
    if (alloc == nullptr) return std::nullopt;
    const std::uint64_t alignment = alloc->align.value_or(Bytes{512}).count;
    if (!std::has_single_bit(alignment) || alignment > 2 * mib) {
      if (sight.error() == ErrorCode::invalid_argument) return std::nullopt;
      return Difference{"invalid_argument", outcome_of(sight)};
    }
    const auto wanted = wanted_by(sight, *alloc);
    if (!wanted) return std::nullopt;
    if (auto difference = missed(sight, *wanted)) return difference;
    return overlooked(sight, *wanted);
  }

 private:
  // What was free before. Looking at events may only make it larger, which matters where blocks can
  // be too large.
  std::optional<Difference> missed(const Sight& sight, const Wanted& wanted) {
    const BlockMap& map = sight.device_before().map;
    const Options& settings = sight.book.settings();
    const auto candidate = find_candidate(map, wanted, settings);
    const bool waits = bytes_of(map, BlockState::active_pending_free) != 0;
    if (!candidate || (waits && settings.max_split_size_bytes != Options::unlimited))
      return std::nullopt;
    const bool asks = sight.calls(DriverCall::malloc, false) != 0;
    const bool may_fail = sight.error() == ErrorCode::cuda_error && sight.any_call_failed();
    if (asks || (!sight.succeeded && !may_fail))
      return Difference{"memory from the cache, where there is " + describe(*candidate),
                        outcome_of(sight) + (asks ? ", and the driver was asked" : "")};
    if (!sight.succeeded) return std::nullopt;
    count("hits");
    if (wanted.alignment > 512) count("aligned hits");
    if (waits) return std::nullopt;
    if (size_at(map, sight.deed->address) != candidate->size_bytes)
      return Difference{"memory of the smallest block that fits, as " + describe(*candidate),
                        outcome_of(sight)};
    return std::nullopt;
  }

  // What is free afterwards, and was when the cache was searched last.
  std::optional<Difference> overlooked(const Sight& sight, const Wanted& wanted) {
    if (!sight.succeeded || sight.calls(DriverCall::malloc, true) == 0) return std::nullopt;
    BlockMap map = sight.device_now().map;
    std::erase_if(map, [&](const SegmentInfo& segment) {
      return Span{{segment.address}, {segment.size_bytes}}.contains(sight.deed->address);
    });
    count("new segments");
    const auto candidate = find_candidate(map, wanted, sight.book.settings());
    if (!candidate) return std::nullopt;
    return Difference{"no new segment, where there is " + describe(*candidate), outcome_of(sight)};
  }

  // Of the free block that the address lies in; 0: in none.
  static std::uint64_t size_at(const BlockMap& map, Address address) {
    for (const SegmentInfo& segment : map) {
      for (const BlockInfo& block : segment.blocks) {
        const bool is_there = Span{{block.address}, {block.size_bytes}}.contains(address);
        if (is_there && block.state == BlockState::inactive) return block.size_bytes;
      }
    }
    return 0;
  }
};

// A request fails for want of memory only when nothing could help: no block waits any more, no
// segment is wholly free, no free block fits, and the limit or the driver leaves no room.
class NoRungLeft final : public Promise {
 public:
  using Promise::Promise;

  std::optional<Difference> after(const Sight& sight) override {
    const Alloc* alloc = request_of(sight);
    if (alloc == nullptr) return std::nullopt;
    const bool is_rejected = sight.error() == ErrorCode::rejected;
    if (!is_rejected && sight.error() != ErrorCode::out_of_memory) return std::nullopt;
    const BlockMap& map = sight.device_now().map;
    const auto wanted = wanted_by(sight, *alloc);
    const auto candidate =
        wanted ? find_candidate(map, *wanted, sight.book.settings()) : std::nullopt;
    if (candidate)
      return Difference{"memory from the cache, where there is " + describe(*candidate),
                        outcome_of(sight)};
    if (is_rejected) return rejected(sight, *alloc);
    if (auto difference = left_over(map)) return difference;
    return room(sight, *alloc);
  }

 private:
  std::optional<Difference> rejected(const Sight& sight, const Alloc& alloc) {
    count("rejections");
    const Options& settings = sight.book.settings();
    const double border = settings.per_process_memory_fraction *
                          static_cast<double>(sight.book.memory(sight.device()).count);
    const std::uint64_t held = reserved_of(sight.device_now().map) + segment_of(sight, alloc);
    const bool is_above = held > static_cast<std::uint64_t>(border);
    if (settings.throw_on_cudamalloc_oom && is_above) return std::nullopt;
    return Difference{"no rejection of " + std::to_string(held) + " bytes in all", "rejected"};
  }

  static std::optional<Difference> left_over(const BlockMap& map) {
    if (bytes_of(map, BlockState::active_pending_free) != 0)
      return Difference{"no block that waits for events", "out of memory, and there is one"};
    for (const SegmentInfo& segment : map) {
      const bool is_free = std::ranges::all_of(segment.blocks, [](const BlockInfo& block) {
        return block.state == BlockState::inactive;
      });
      if (is_free)
        return Difference{"no segment that is free",
                          "out of memory, and there is " + describe(segment)};
    }
    return std::nullopt;
  }

  std::optional<Difference> room(const Sight& sight, const Alloc& alloc) {
    const std::uint64_t segment = segment_of(sight, alloc);
    const auto limit = sight.book.limit(sight.device());
    const bool is_limited = limit && reserved_of(sight.device_now().map) + segment > limit->count;
    count(is_limited ? "above the limit" : "out of memory");
    if (is_limited || sight.book.plans_refusals()) return std::nullopt;
    const Bytes taken = round_up(Bytes{segment}, Bytes{2 * mib});
    if (sight.device_now().free < taken) return std::nullopt;
    return Difference{"less than " + print_size(taken) + " left at the driver",
                      "out of memory, and " + print_size(sight.device_now().free) + " left"};
  }
};

// The quantities of an out-of-memory add up, and are those of the statistics, the map, the driver
// and the Program.
class MemoryReports final : public Promise {
 public:
  using Promise::Promise;

  std::optional<Difference> after(const Sight& sight) override {
    const Alloc* alloc = request_of(sight);
    if (alloc == nullptr || sight.succeeded) return std::nullopt;
    const bool is_rejected = sight.error() == ErrorCode::rejected;
    if (!is_rejected && sight.error() != ErrorCode::out_of_memory) return std::nullopt;
    if (sight.deed->error.memory == nullptr) return Difference{"the quantities", "none"};
    count(is_rejected ? "rejections" : "out of memory");
    return unequal(sight, *alloc, *sight.deed->error.memory);
  }

 private:
  std::optional<Difference> unequal(const Sight& sight, const Alloc& alloc,
                                    const MemoryReport& report) {
    const DeviceSight& now = sight.device_now();
    const std::uint64_t memory = sight.book.memory(sight.device()).count;
    const auto limit = sight.book.limit(sight.device());
    const bool has_free = sight.calls(DriverCall::mem_info, true) != 0;
    const bool has_total = has_free || sight.error() == ErrorCode::rejected;
    MemoryReport expected = report;  // Other processes are not ours to know.
    expected.device = sight.device();
    expected.requested_bytes = alloc.size.count;
    expected.tried_bytes = segment_of(sight, alloc);
    expected.total_bytes = has_total ? std::optional(memory) : std::nullopt;
    expected.free_bytes = has_free ? std::optional(now.free.count) : std::nullopt;
    expected.limit_bytes = limit ? std::optional(limit->count) : std::nullopt;
    expected.allocated_bytes = bytes_of(now.map, BlockState::active_allocated);
    expected.private_bytes = 0;
    expected.pending_bytes = bytes_of(now.map, BlockState::active_pending_free);
    expected.unallocated_bytes = reserved_of(now.map) - expected.allocated_bytes;
    if (auto difference = compare(expected, report)) return difference;
    const auto reserved = static_cast<std::uint64_t>(now.stats.reserved_bytes.all.current);
    if (report.reserved_bytes() == reserved) return std::nullopt;
    return Difference{std::to_string(reserved) + " bytes reserved, by the statistics",
                      std::to_string(report.reserved_bytes())};
  }
};

}  // namespace

const NamedPromise must_succeed{"must succeed", make<MustSucceed>};
const NamedPromise no_rung_left{"no rung left", make<NoRungLeft>};
const NamedPromise memory_report{"memory report", make<MemoryReports>};

}  // namespace cairn::testing
