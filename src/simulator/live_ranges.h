// The ranges of one device's memory that a program holds at the moment, and for whom. They should
// be disjoint; where they are not, the pairs that overlap are counted. Looking up and changing cost
// the logarithm of the number of ranges, as long as few of them overlap.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/units.h"
#include "simulator/accesses.h"
#include "simulator/clock.h"

namespace cairn::simulator {

// A range that the program holds, for work on a stream.
struct Ownership {
  Span range;
  OwnershipNumber number = 0;
  StreamNumber owner = StreamNumber::none;
  Clock start;  // What was before the owner's end when the range was handed out.
};

class LiveRanges {
 public:
  // REQUIRES, here and below: the range is not empty, and does not pass 2^64.
  void add(Ownership ownership);
  // None where no such range is held, and then nothing changes.
  std::optional<Ownership> remove(Span range);

  // One of the ranges that overlap `span`; null: none does.
  const Ownership* overlapping(Span span) const;
  // One that `span` lies in.
  const Ownership* containing(Span span) const;
  // Number of pairs of ranges that overlap.
  std::uint64_t overlaps() const { return overlaps_; }

  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [begin, ownership] : disjoint_) visit(ownership);
    for (const Ownership& ownership : others_) visit(ownership);
  }

 private:
  std::uint64_t count_overlapping(Span span) const;

  std::map<Address, Ownership> disjoint_;
  std::vector<Ownership> others_;  // Overlapped one that was held when they came.
  std::uint64_t overlaps_ = 0;
};

}  // namespace cairn::simulator
