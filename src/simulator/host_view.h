// What the host has seen done, by synchronising or by asking an event. All that the host puts on a
// stream later comes after it, so it can race with nothing any more. The host counts as one thread.
//
// A stream is known from when it may have a kernel until none of its kernels matters; of a stream
// that is not known, all was seen.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <unordered_map>

#include "simulator/clock.h"

namespace cairn::simulator {

class HostView {
 public:
  // The stream is known from now on; its kernels up to `last` were seen.
  void add(StreamNumber stream, KernelNumber last) { seen_.emplace(stream, last); }

  bool has_seen(StreamNumber stream, KernelNumber kernel) const {
    const auto known = seen_.find(stream);
    return known == seen_.end() || kernel <= known->second;
  }

  // The host saw that all before a point is done.
  void see(const Clock& before) {
    for (const Clock::Entry& entry : before.entries()) {
      const auto known = seen_.find(entry.stream);
      if (known != seen_.end()) known->second = std::max(known->second, entry.kernel);
    }
  }

  // Drops what was seen: of no clock does it have to be remembered.
  void reduce(Clock& clock) const {
    clock.drop_if(
        [this](const Clock::Entry& entry) { return has_seen(entry.stream, entry.kernel); });
  }

  // Knows only the streams for which the predicate holds.
  template <class Predicate>
  void keep_if(Predicate predicate) {
    std::erase_if(seen_, [&predicate](const auto& known) { return !predicate(known.first); });
  }

 private:
  std::unordered_map<StreamNumber, KernelNumber> seen_;
};

}  // namespace cairn::simulator
