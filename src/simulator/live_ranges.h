// The ranges of one device's memory that a program holds at the moment. They should be disjoint;
// where they are not, the pairs that overlap are counted. Looking up and changing cost the
// logarithm of the number of ranges, as long as few of them overlap.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/units.h"

namespace cairn::simulator {

class LiveRanges {
 public:
  // REQUIRES, here and below: the range is not empty, and does not pass 2^64.
  void add(Span range);
  // False where no such range is held, and then nothing changes.
  bool remove(Span range);

  // One of the ranges that overlap `span`.
  std::optional<Span> overlapping(Span span) const;
  // Number of pairs of ranges that overlap.
  std::uint64_t overlaps() const { return overlaps_; }

 private:
  std::uint64_t count_overlapping(Span span) const;

  std::map<Address, Span> disjoint_;
  std::vector<Span> others_;  // Overlapped one that was held when they came.
  std::uint64_t overlaps_ = 0;
};

}  // namespace cairn::simulator
