// What the names of a Program stand for while it runs: ranges of memory, and streams; and the
// threads that it speaks of.
//
// Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"

namespace cairn::testing {

// The range that a name was bound to last: the block as it was handed out. Null of 0 bytes.
struct Range {
  DeviceIndex device = 0;
  Span span;
  Bytes requested;
  StreamId stream;
  bool is_live = false;
};

class Names {
 public:
  using Entry = std::pair<const std::string, Range>;  // A name and its range.

  // REQUIRES: the name is not live; the range is live or null.
  void bind(const std::string& name, const Range& range);
  // The range of the live block that starts there is freed; its name stays bound to it.
  void release(Address address);

  const Range* find(const std::string& name) const;  // Null: the name is not known.
  bool is_live(const std::string& name) const;
  const Range* live_at(Address address) const;     // The live block that starts there, or null.
  const Entry* live_overlapping(Span span) const;  // A live block that overlaps it, or null.

  const std::map<Address, Entry*>& live() const { return live_; }  // All live blocks.

 private:
  std::unordered_map<std::string, Range> ranges_;
  std::map<Address, Entry*> live_;
};

// Streams are handles, as the allocator sees them. They are made where they are mentioned first.
class Streams {
 public:
  // The stream's handle; none where the name cannot be served: `ptds` of a second thread.
  std::optional<StreamId> mention(const std::string& name, int thread);
  std::optional<StreamId> find(const std::string& name) const;
  // False where it exists.
  bool make(const std::string& name);

 private:
  std::map<std::string, StreamId> handles_{{"s0", legacy_default_stream}};
  std::optional<int> per_thread_owner_;
  std::uint64_t next_handle_ = 0x5000;
};

}  // namespace cairn::testing
