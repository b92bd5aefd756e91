// What the names of a Program's memory stand for while it runs.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "simulator/simulated_gpu.h"

namespace cairn::testing {

// The range that a name was bound to last: the block as it was handed out. Null of 0 bytes.
struct Range {
  DeviceIndex device = 0;
  Span span;
  Bytes requested;
  std::uint64_t handle = 0;  // Of the stream, as the allocator was told.
  StreamId stream;           // Which one it is to the allocator.
  bool is_live = false;
  std::vector<simulator::StreamNumber> recorded{};  // The allocator was told that they use it.
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
  Range* live_at(Address address);  // The live block that starts there, or null.
  const Range* live_at(Address address) const;
  const Entry* live_overlapping(Span span) const;  // A live block that overlaps it, or null.

  const std::map<Address, Entry*>& live() const { return live_; }  // All live blocks.

 private:
  std::unordered_map<std::string, Range> ranges_;
  std::map<Address, Entry*> live_;
};

}  // namespace cairn::testing
