// Listens to a World: what each operation made of the allocator, as a step of the model of the life
// of a block, with the driver calls that it made in between. A World has one tap.
//
// Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "abstraction.h"
#include "base/units.h"
#include "driver/driver.h"
#include "testing/world.h"

namespace cairn::protocol {

// `before` and `after` are equal where an operation changed nothing that the model knows.
struct Transition {
  Abstract before;
  // The driver's answers in order, by the names that rules of the model have for them: "malloc",
  // "-malloc" (it failed), "event_not_done".
  std::vector<std::string> answers;
  Abstract after;
  auto operator<=>(const Transition&) const = default;
};
// As the model is asked for it: "before | answers | after" (invariants/protocol/conformance.cc).
std::string line_of(const Transition& transition);

class Tap {
 public:
  Tap(const Bounds& bounds, const std::array<StreamId, stream_count>& streams);

  // The options of the World that is listened to. REQUIRES: the tap outlives it.
  void listen(testing::WorldOptions& options);

  // Gets each transition; `after` of one is `before` of the next.
  std::function<void(const Transition&)> tell;
  // Once: what another thread does while the driver is asked for a segment without the lock.
  std::function<void(AllDevices&)> meanwhile;

  const Abstract& state() const { return state_; }

 private:
  class Listener;

  void answered(std::string answer) { answers_.push_back(std::move(answer)); }
  // The request that the driver is being asked for; none: nobody asks.
  struct Asked {
    int size = 0;
    int stream = 0;
  };
  void step(AllDevices& allocator, const Asked* asked);
  void during_malloc();

  const Abstraction abstraction_;
  Abstract state_;
  Slots slots_;
  std::vector<Span> out_;
  std::vector<std::string> answers_;
  AllDevices* allocator_ = nullptr;

 public:
  Asked next_request;  // Of what the next malloc is for, where `meanwhile` is set.
};

// The state of an allocator that nobody has used.
Abstract nothing_held(const Bounds& bounds);

}  // namespace cairn::protocol
