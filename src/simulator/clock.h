// Vector clocks: which kernels come before a point in the order of all work.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::simulator {

// A stream of the simulated machine. No two ever have the same, whatever their handles.
enum class StreamNumber : std::uint64_t { none = 0 };

// A kernel of the simulated machine, counted from 1 in the order in which they are launched.
using KernelNumber = std::uint64_t;

// Virtual time.
using Ticks = std::uint64_t;

inline Ticks later(Ticks time, Ticks by) { return by > ~time ? ~Ticks{0} : time + by; }

// For each stream the last of its kernels that comes before the point; all of that stream's kernels
// up to that one do too.
class Clock {
 public:
  struct Entry {
    StreamNumber stream = StreamNumber::none;
    KernelNumber kernel = 0;
  };

  // 0: no kernel of that stream.
  KernelNumber of(StreamNumber stream) const {
    const std::size_t place = place_of(stream);
    return is_at(place, stream) ? entries_[place].kernel : 0;
  }

  // That kernel comes before it as well.
  void raise(Entry entry) {
    const std::size_t place = place_of(entry.stream);
    if (is_at(place, entry.stream)) {
      entries_[place].kernel = std::max(entries_[place].kernel, entry.kernel);
    } else {
      entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(place), entry);
    }
  }
  void join(const Clock& other) {
    for (const Entry& entry : other.entries_) raise(entry);
  }

  template <class Predicate>
  void drop_if(Predicate predicate) {
    std::erase_if(entries_, predicate);
  }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  // Where the stream's entry is, or would be.
  std::size_t place_of(StreamNumber stream) const {
    const auto place =
        std::lower_bound(entries_.begin(), entries_.end(), stream,
                         [](const Entry& entry, StreamNumber s) { return entry.stream < s; });
    return static_cast<std::size_t>(place - entries_.begin());
  }
  bool is_at(std::size_t place, StreamNumber stream) const {
    return place < entries_.size() && entries_[place].stream == stream;
  }

  std::vector<Entry> entries_;  // By stream.
};

// A point in the order of all work: what comes before it, and when all of that is done.
struct Point {
  Clock before;
  Ticks done_at = 0;

  void join(const Point& other) {
    before.join(other.before);
    done_at = std::max(done_at, other.done_at);
  }
};

}  // namespace cairn::simulator
