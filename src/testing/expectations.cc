#include "testing/expectations.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "testing/parser_words.h"

namespace cairn::testing {
namespace {

// Quantities that the statistics have by pool, now and at their peak.
struct Amount {
  std::string_view words;
  StatArray DeviceStats::* member;
};
constexpr auto amounts = std::to_array<Amount>({
    {"reserved", &DeviceStats::reserved_bytes},
    {"allocated", &DeviceStats::allocated_bytes},
    {"active", &DeviceStats::active_bytes},
    {"requested", &DeviceStats::requested_bytes},
    {"inactive_split", &DeviceStats::inactive_split_bytes},
    {"segments", &DeviceStats::segment},
    {"blocks(allocated)", &DeviceStats::allocation},
    {"blocks(active)", &DeviceStats::active},
    {"blocks(inactive_split)", &DeviceStats::inactive_split},
});

struct Count {
  std::string_view word;
  std::int64_t DeviceStats::* member;
};
constexpr auto counts = std::to_array<Count>({
    {"ooms", &DeviceStats::num_ooms},
    {"retries", &DeviceStats::num_alloc_retries},
    {"rejections", &DeviceStats::num_oom_rejections},
    {"syncs", &DeviceStats::num_sync_all_streams},
});

// "reserved" and "small" of reserved(small); "blocks(active)" and "" of blocks(active).
struct AmountName {
  std::string words;
  std::string pool;
};
AmountName split_amount(std::string_view query, const std::string& argument) {
  if (query != "blocks") return {std::string(query), argument};
  const auto comma = argument.find(',');
  const std::string pool = comma == std::string::npos ? "" : argument.substr(comma + 1);
  return {"blocks(" + argument.substr(0, comma) + ")", pool};
}

const Stat* stat_of(const StatArray& stats, const std::string& pool) {
  if (pool.empty()) return &stats.all;
  const auto kind = meaning(pool_words, pool);
  if (!kind) return nullptr;
  return *kind == PoolKind::small ? &stats.small_pool : &stats.large_pool;
}

Failure<std::string> no_value(std::string why) { return Failure{std::move(why)}; }

}  // namespace

std::string to_string(WideInteger value) {
  if (value < 0) return "-" + to_string(-value);
  const auto last = static_cast<char>('0' + static_cast<int>(value % 10));
  return value < 10 ? std::string(1, last) : to_string(value / 10) + last;
}

bool holds(WideInteger left, Comparison comparison, WideInteger right) {
  switch (comparison) {
    case Comparison::equal:
      return left == right;
    case Comparison::not_equal:
      return left != right;
    case Comparison::less:
      return left < right;
    case Comparison::less_equal:
      return left <= right;
    case Comparison::greater:
      return left > right;
    case Comparison::greater_equal:
      return left >= right;
  }
  return false;
}

Result<WideInteger, std::string> Expectations::sum(const std::vector<Term>& terms) const {
  WideInteger total = 0;
  for (const Term& term : terms) {
    const Value each = value(term);
    if (each.failed()) return each;
    total += term.negative ? -*each : *each;
  }
  return total;
}

Expectations::Value Expectations::value(const Term& term) const {
  if (term.query.empty()) {
    if (!term.argument.empty()) return of_stream(term.argument);
    return WideInteger{term.number};
  }
  constexpr std::array<std::string_view, 4> of_blocks = {"addr", "size", "stream", "events"};
  const bool needs_block = std::ranges::find(of_blocks, term.query) != of_blocks.end();
  const Range* range = names_.find(term.argument);
  if (needs_block && range == nullptr) return no_value("'" + term.argument + "' is not known");
  if (needs_block || (term.query == "requested" && range != nullptr))
    return of_block(*range, term.query);
  const DeviceIndex device = term.device.value_or(0);
  if (machine_.allocator().find_device(device) == nullptr)
    return no_value("there is no device " + std::to_string(device));
  return of_device(term, device);
}

Expectations::Value Expectations::of_stream(const std::string& name) const {
  const auto stream = streams_.id(name);
  if (!stream) return no_value("'" + name + "' is neither a quantity nor a stream");
  return WideInteger{stream->value};
}

Expectations::Value Expectations::of_block(const Range& range, const std::string& query) const {
  if (query == "addr") return WideInteger{range.span.begin.value};
  if (query == "size") return WideInteger{range.span.size.count};
  if (query == "requested") return WideInteger{range.requested.count};
  if (query == "stream") return WideInteger{range.stream.value};
  return machine_.allocator().device(range.device).inspect([&](const Heap& heap) {
    const Segment* segment = heap.segment_at(range.span.begin);
    const Block* block = segment == nullptr ? nullptr : segment->first;
    while (block != nullptr && block->ptr != range.span.begin) block = block->next;
    return WideInteger{block == nullptr ? 0 : block->event_count};
  });
}

Expectations::Value Expectations::of_device(const Term& term, DeviceIndex device) const {
  const DeviceStats stats = sight_.stats(device);
  constexpr std::string_view peak = "peak_";
  const bool is_peak = term.query.starts_with(peak);
  const AmountName name =
      split_amount(std::string_view(term.query).substr(is_peak ? peak.size() : 0), term.argument);
  const auto* amount = std::ranges::find(amounts, name.words, &Amount::words);
  if (amount != amounts.end()) {
    const Stat* stat = stat_of(stats.*amount->member, name.pool);
    if (stat == nullptr) return no_value("there is no pool '" + name.pool + "'");
    return WideInteger{is_peak ? stat->peak : stat->current};
  }
  const auto* count = std::ranges::find(counts, term.query, &Count::word);
  if (count != counts.end()) return WideInteger{stats.*count->member};
  if (term.query == "calls") {
    const auto call = driver_call_from(term.argument);
    if (!call) return no_value("'" + term.argument + "' is not a kind of driver call");
    return WideInteger{machine_.calls(*call, device)};
  }
  if (term.query == "oom") return of_out_of_memory(term.argument, device);
  if (term.query == "device_free") return WideInteger{machine_.gpu().device_free(device).count};
  if (term.query == "overlaps") return WideInteger{machine_.gpu().overlaps(device)};
  if (term.query == "violations") return WideInteger{machine_.gpu().violation_count()};
  return of_map(term.query, device);
}

Expectations::Value Expectations::of_out_of_memory(const std::string& field,
                                                   DeviceIndex device) const {
  const auto found = reports_.find(device);
  if (found == reports_.end())
    return no_value("there was no out-of-memory on device " + std::to_string(device));
  const MemoryReport& report = found->second;
  if (field == "tried") return WideInteger{report.tried_bytes};
  if (field == "allocated") return WideInteger{report.allocated_bytes};
  if (field == "private") return WideInteger{report.private_bytes};
  if (field == "unallocated") return WideInteger{report.unallocated_bytes};
  std::optional<std::uint64_t> bytes = report.total_bytes;
  if (field == "free") bytes = report.free_bytes;
  if (field == "limit" && report.limit_bytes) bytes = report.limit_bytes;
  if (!bytes) return no_value("the driver did not say it, so oom(" + field + ") means nothing");
  return WideInteger{*bytes};
}

WideInteger Expectations::of_map(const std::string& query, DeviceIndex device) const {
  BlockState state = BlockState::inactive;  // free_blocks, largest_free
  if (query == "live_blocks") state = BlockState::active_allocated;
  if (query == "pending_blocks") state = BlockState::active_pending_free;
  std::uint64_t count = 0;
  std::uint64_t largest = 0;
  for (const SegmentInfo& segment : sight_.map(device)) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != state) continue;
      ++count;
      largest = std::max(largest, block.size_bytes);
    }
  }
  return WideInteger{query == "largest_free" ? largest : count};
}

}  // namespace cairn::testing
