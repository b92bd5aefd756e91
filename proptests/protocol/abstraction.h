// What the model of the life of a block (invariants/protocol/block_life.m) says of one device's
// allocator, taken from the allocator: the abstraction that ties the code to the model. Left out
// are addresses (segments have a slot, blocks a granule), bytes (sizes are counted in granules),
// ages, peaks and all that accumulates.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace cairn {
struct Block;
struct DeviceState;
}  // namespace cairn

namespace cairn::protocol {

// Of the model's constants those that say how large a state of the code may be.
struct Bounds {
  int segments = 0;
  int granules = 0;  // Of a segment.
  Bytes granule;
};
inline constexpr int stream_count = 3;

// Which slot of the model a segment stands in, from one state to the next.
using Slots = std::map<Address, int>;

// The variables of the model's allocator, in the order in which they are declared there: lengths,
// owners, blocks, may_be_in_use, unused_events, lost, the counts, out. Empty where the state is
// larger than the bounds: it has too many segments, or a size that is no number of granules.
using Abstract = std::vector<int>;

class Abstraction {
 public:
  // By number: what a stream's memory stands under.
  Abstraction(const Bounds& bounds, const std::array<StreamId, stream_count>& streams)
      : bounds_(bounds), streams_(streams) {}

  // `out`: what the driver has out. Slots of segments that are gone are given to new ones.
  Abstract of(const DeviceState& state, const std::vector<Span>& out, Slots& slots) const;

 private:
  int number(StreamId stream) const;
  int in_granules(Bytes size) const;
  bool fits(const DeviceState& state) const;
  std::vector<int> of_block(const Block& block, const DeviceState& state) const;

  const Bounds bounds_;
  const std::array<StreamId, stream_count> streams_;
};

std::string in_text(const Abstract& state);

}  // namespace cairn::protocol
