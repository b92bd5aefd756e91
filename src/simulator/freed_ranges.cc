#include "simulator/freed_ranges.h"

#include <boost/icl/interval_set.hpp>
#include <cstdint>
#include <functional>

namespace cairn::simulator {
namespace {

using Interval = boost::icl::right_open_interval<std::uint64_t>;

Interval interval_of(Span span) { return {span.begin.value, span.end().value}; }

}  // namespace

struct FreedRanges::Ranges {
  boost::icl::interval_set<std::uint64_t, std::less, Interval> set;
};

FreedRanges::FreedRanges() : ranges_(std::make_unique<Ranges>()) {}
FreedRanges::FreedRanges(FreedRanges&&) noexcept = default;
FreedRanges& FreedRanges::operator=(FreedRanges&&) noexcept = default;
FreedRanges::~FreedRanges() = default;

void FreedRanges::add(Span span) { ranges_->set.add(interval_of(span)); }

void FreedRanges::remove(Span span) { ranges_->set.subtract(interval_of(span)); }

bool FreedRanges::contains(Address address) const {
  return boost::icl::contains(ranges_->set, address.value);
}

std::optional<Address> FreedRanges::lowest_with(Bytes room) const {
  for (const Interval& range : ranges_->set) {
    if (range.upper() - range.lower() >= room.count) return Address{range.lower()};
  }
  return std::nullopt;
}

std::optional<Address> FreedRanges::end_of_range_in(Span span) const {
  const auto found = ranges_->set.find(interval_of(span));
  if (found == ranges_->set.end()) return std::nullopt;
  return Address{found->upper()};
}

}  // namespace cairn::simulator
