// The handles of streams that programs make: process-wide, and one that is dead may come to name
// another stream.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/clock.h"

namespace cairn::simulator {

class StreamHandles {
 public:
  std::uint64_t add(StreamNumber stream) {
    slots_.push_back({stream, false});
    return first + step * (slots_.size() - 1);
  }
  // REQUIRES: the handle is dead.
  void reuse(std::uint64_t handle, StreamNumber stream) {
    slots_[index_of(handle)] = {stream, false};
  }
  // REQUIRES: the handle names a stream.
  void end(std::uint64_t handle, bool announced) {
    slots_[index_of(handle)] = {StreamNumber::none, announced};
  }
  // All handles of streams for which `is_over` holds.
  template <class Predicate>
  void end_all(Predicate is_over) {
    for (Slot& slot : slots_) {
      if (slot.stream != StreamNumber::none && is_over(slot.stream)) {
        slot = {StreamNumber::none, false};
      }
    }
  }
  // Whoever was told of its end was given it once more.
  void forget_announcement(std::uint64_t handle) {
    if (is_dead(handle)) slots_[index_of(handle)].announced = false;
  }

  StreamNumber find(std::uint64_t handle) const {
    return is_known(handle) ? slots_[index_of(handle)].stream : StreamNumber::none;
  }
  bool is_dead(std::uint64_t handle) const {
    return is_known(handle) && find(handle) == StreamNumber::none;
  }
  // It is dead, and its end was announced.
  bool is_announced_dead(std::uint64_t handle) const {
    return is_dead(handle) && slots_[index_of(handle)].announced;
  }

 private:
  static constexpr std::uint64_t first = 0x5000;
  static constexpr std::uint64_t step = 0x10;

  struct Slot {
    StreamNumber stream;  // None: the handle is dead.
    bool announced;
  };

  static std::size_t index_of(std::uint64_t handle) { return (handle - first) / step; }
  bool is_known(std::uint64_t handle) const {
    return handle >= first && (handle - first) % step == 0 && index_of(handle) < slots_.size();
  }

  std::vector<Slot> slots_;  // By handle.
};

}  // namespace cairn::simulator
