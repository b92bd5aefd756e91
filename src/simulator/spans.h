// Look-ups in an ordered map of disjoint spans, from where each begins to what is known of it.
#pragma once

#include <iterator>

#include "base/units.h"

namespace cairn::simulator {

// The lowest entry that overlaps `span`, or end(); `span_of` gives the span of a mapped value.
template <class Map, class SpanOf>
auto first_overlapping(Map& spans, Span span, SpanOf span_of) {
  auto next = spans.upper_bound(span.begin);
  if (next != spans.begin()) {
    const auto before = std::prev(next);
    if (span_of(before->second).overlaps(span)) return before;
  }
  if (next != spans.end() && next->first < span.end()) return next;
  return spans.end();
}

}  // namespace cairn::simulator
