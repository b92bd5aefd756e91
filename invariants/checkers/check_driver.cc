#include <algorithm>
#include <iterator>
#include <vector>

#include "base/in_words.h"
#include "heap/heap.h"
#include "invariants/checkers/checkers.h"

namespace cairn::invariants {
namespace {

bool precedes(const Span& a, const Span& b) {
  return a.begin != b.begin ? a.begin < b.begin : a.size < b.size;
}

// Reports what is among `all` but not among `known`; both are in order. Each of `all` is looked at.
void expect_known(const std::vector<Span>& all, const std::vector<Span>& known, const char* fault) {
  count_evaluations(segment_from_driver, all.size());
  std::vector<Span> unknown;
  std::set_difference(all.begin(), all.end(), known.begin(), known.end(),
                      std::back_inserter(unknown), precedes);
  for (const Span& span : unknown) {
    report(segment_from_driver, in_words(span) + fault, __FILE__, __LINE__);
  }
}

}  // namespace

void check_segments_from_driver(const Heap& heap, std::vector<Span> driver_has_out) {
  std::vector<Span> segments;
  for (const auto& [address, segment] : heap.segments()) segments.push_back(segment.span);
  std::sort(segments.begin(), segments.end(), precedes);
  std::sort(driver_has_out.begin(), driver_has_out.end(), precedes);
  expect_known(segments, driver_has_out, " are a segment, but the driver has no such memory out");
  expect_known(driver_has_out, segments, " are out of the driver, but no segment");
}

}  // namespace cairn::invariants
