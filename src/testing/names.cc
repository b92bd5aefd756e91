#include "testing/names.h"

namespace cairn::testing {

void Names::bind(const std::string& name, const Range& range) {
  Entry& entry = *ranges_.insert_or_assign(name, range).first;
  if (range.is_live) live_[range.span.begin] = &entry;
}

void Names::release(Address address) {
  const auto live = live_.find(address);
  if (live == live_.end()) return;
  live->second->second.is_live = false;
  live_.erase(live);
}

const Range* Names::find(const std::string& name) const {
  const auto found = ranges_.find(name);
  return found == ranges_.end() ? nullptr : &found->second;
}

bool Names::is_live(const std::string& name) const {
  const Range* range = find(name);
  return range != nullptr && range->is_live;
}

Range* Names::live_at(Address address) {
  const auto live = live_.find(address);
  return live == live_.end() ? nullptr : &live->second->second;
}

const Range* Names::live_at(Address address) const {
  const auto live = live_.find(address);
  return live == live_.end() ? nullptr : &live->second->second;
}

const Names::Entry* Names::live_overlapping(Span span) const {
  const auto above = live_.lower_bound(span.end());
  if (above == live_.begin()) return nullptr;
  const Entry* entry = std::prev(above)->second;  // The last that starts below the end.
  return entry->second.span.overlaps(span) ? entry : nullptr;
}

}  // namespace cairn::testing
