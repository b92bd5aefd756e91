#include "simulator/live_ranges.h"

#include <algorithm>

#include "simulator/spans.h"

namespace cairn::simulator {
namespace {

Span itself(Span span) { return span; }

}  // namespace

void LiveRanges::add(Span range) {
  overlaps_ += count_overlapping(range);
  if (first_overlapping(disjoint_, range, itself) == disjoint_.end()) {
    disjoint_.emplace(range.begin, range);
  } else {
    others_.push_back(range);
  }
}

bool LiveRanges::remove(Span range) {
  const auto other = std::find(others_.begin(), others_.end(), range);
  const auto found = disjoint_.find(range.begin);
  if (other != others_.end()) {
    others_.erase(other);
  } else if (found != disjoint_.end() && found->second == range) {
    disjoint_.erase(found);
  } else {
    return false;
  }
  overlaps_ -= count_overlapping(range);
  return true;
}

std::optional<Span> LiveRanges::overlapping(Span span) const {
  const auto found = first_overlapping(disjoint_, span, itself);
  if (found != disjoint_.end()) return found->second;
  const auto other = std::find_if(others_.begin(), others_.end(),
                                  [span](Span held) { return held.overlaps(span); });
  if (other != others_.end()) return *other;
  return std::nullopt;
}

std::uint64_t LiveRanges::count_overlapping(Span span) const {
  std::uint64_t count = 0;
  auto range = first_overlapping(disjoint_, span, itself);
  while (range != disjoint_.end() && range->first < span.end()) {
    ++count;
    ++range;
  }
  for (const Span held : others_) count += held.overlaps(span) ? 1 : 0;
  return count;
}

}  // namespace cairn::simulator
