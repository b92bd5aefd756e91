// The addresses that a device gave back and has not in use again, as ranges that do not touch.
//
// Not thread-safe.
#pragma once

#include <memory>
#include <optional>

#include "base/units.h"

namespace cairn::simulator {

class FreedRanges {
 public:
  FreedRanges();
  FreedRanges(FreedRanges&&) noexcept;
  FreedRanges& operator=(FreedRanges&&) noexcept;
  ~FreedRanges();

  void add(Span span);
  void remove(Span span);

  bool contains(Address address) const;
  // Where the lowest range begins that has so much room; none if none has.
  std::optional<Address> lowest_with(Bytes room) const;
  // Where a range ends that shares an address with the span; none if none does.
  std::optional<Address> end_of_range_in(Span span) const;

 private:
  struct Ranges;  // Of Boost.ICL, which is dear to compile.

  std::unique_ptr<Ranges> ranges_;
};

}  // namespace cairn::simulator
