#include "simulator/live_ranges.h"

#include <algorithm>
#include <utility>

#include "simulator/spans.h"

namespace cairn::simulator {
namespace {

Span range_of(const Ownership& ownership) { return ownership.range; }

}  // namespace

void LiveRanges::add(Ownership ownership) {
  const Span range = ownership.range;
  overlaps_ += count_overlapping(range);
  if (first_overlapping(disjoint_, range, range_of) == disjoint_.end()) {
    disjoint_.emplace(range.begin, std::move(ownership));
  } else {
    others_.push_back(std::move(ownership));
  }
}

std::optional<Ownership> LiveRanges::remove(Span range) {
  std::optional<Ownership> removed;
  const auto other =
      std::find_if(others_.begin(), others_.end(),
                   [range](const Ownership& ownership) { return ownership.range == range; });
  const auto found = disjoint_.find(range.begin);
  if (other != others_.end()) {
    removed = std::move(*other);
    others_.erase(other);
  } else if (found != disjoint_.end() && found->second.range == range) {
    removed = std::move(found->second);
    disjoint_.erase(found);
  } else {
    return std::nullopt;
  }
  overlaps_ -= count_overlapping(range);
  return removed;
}

const Ownership* LiveRanges::overlapping(Span span) const {
  const auto found = first_overlapping(disjoint_, span, range_of);
  if (found != disjoint_.end()) return &found->second;
  const auto other =
      std::find_if(others_.begin(), others_.end(),
                   [span](const Ownership& ownership) { return ownership.range.overlaps(span); });
  return other == others_.end() ? nullptr : &*other;
}

const Ownership* LiveRanges::containing(Span span) const {
  const auto found = first_overlapping(disjoint_, span, range_of);
  if (found != disjoint_.end() && found->second.range.contains(span)) return &found->second;
  const auto other =
      std::find_if(others_.begin(), others_.end(),
                   [span](const Ownership& ownership) { return ownership.range.contains(span); });
  return other == others_.end() ? nullptr : &*other;
}

std::uint64_t LiveRanges::count_overlapping(Span span) const {
  std::uint64_t count = 0;
  auto range = first_overlapping(disjoint_, span, range_of);
  while (range != disjoint_.end() && range->first < span.end()) {
    ++count;
    ++range;
  }
  for (const Ownership& held : others_) count += held.range.overlaps(span) ? 1 : 0;
  return count;
}

}  // namespace cairn::simulator
