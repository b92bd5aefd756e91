#include "testing/names.h"

namespace cairn::testing {
namespace {

constexpr StreamId per_thread_stream{2};  // CU_STREAM_PER_THREAD
constexpr std::uint64_t handle_step = 0x100;

}  // namespace

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

std::optional<StreamId> Streams::mention(const std::string& name, int thread) {
  if (name == "ptds") {
    if (per_thread_owner_.value_or(thread) != thread) return std::nullopt;
    per_thread_owner_ = thread;
    handles_.emplace(name, per_thread_stream);
  }
  make(name);
  return handles_.at(name);
}

std::optional<StreamId> Streams::find(const std::string& name) const {
  const auto found = handles_.find(name);
  if (found == handles_.end()) return std::nullopt;
  return found->second;
}

bool Streams::make(const std::string& name) {
  if (handles_.contains(name)) return false;
  handles_.emplace(name, StreamId{next_handle_});
  next_handle_ += handle_step;
  return true;
}

}  // namespace cairn::testing
