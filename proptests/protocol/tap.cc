#include "tap.h"

#include <algorithm>
#include <utility>

#include "allocator/all_devices.h"
#include "allocator/device_state.h"
#include "driver/cuda_status.h"
#include "testing/liar_in_test.h"

namespace cairn::protocol {

// Between the allocator and the driver.
class Tap::Listener final : public testing::Liar {
 public:
  Listener(Driver& below, Tap& tap) : Liar(below), tap_(tap) {}

  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
    if (tap_.meanwhile && tap_.allocator_ != nullptr) tap_.during_malloc();
    auto given = Liar::malloc(device, size);
    if (given) {
      tap_.out_.push_back({*given, size});
      tap_.answered("malloc");
    } else {
      tap_.answered("-malloc");
      if (is_sticky(given.error())) tap_.answered("-sticky");
    }
    return given;
  }
  DriverResult<Done> free(DeviceIndex device, Address address) override {
    auto freed = told(Liar::free(device, address), "free", "-call");
    if (freed) {
      std::erase_if(tap_.out_, [&](const Span& span) { return span.begin == address; });
    }
    return freed;
  }
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) override {
    return told(Liar::mem_info(device), "mem_info", "-call");
  }
  DriverResult<EventHandle> event_create(DeviceIndex device, ContextHandle context) override {
    return told(Liar::event_create(device, context), nullptr, "-event_record");
  }
  DriverResult<ContextHandle> stream_ctx(StreamRef stream) override {
    return told(Liar::stream_ctx(stream), nullptr, "-event_record");
  }
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override {
    return told(Liar::event_record(stream, event), "event_record", "-event_record");
  }
  DriverResult<bool> event_query(DeviceIndex device, EventHandle event) override {
    const auto done = Liar::event_query(device, event);
    return told(done, done && *done ? "event_done" : "event_not_done", "-call");
  }
  DriverResult<Done> event_sync(DeviceIndex device, EventHandle event) override {
    return told(Liar::event_sync(device, event), "event_done", "-call");
  }
  DriverResult<Done> stream_sync(StreamRef stream) override {
    return told(Liar::stream_sync(stream), "stream_sync", "-call");
  }
  // The model has no such steps.
  DriverResult<Done> ctx_record(DeviceIndex device, EventHandle event) override {
    return told(Liar::ctx_record(device, event), "ctx_record", "ctx_record");
  }
  DriverResult<Done> device_sync(DeviceIndex device) override {
    return told(Liar::device_sync(device), "device_sync", "device_sync");
  }

 private:
  template <class T>
  DriverResult<T> told(DriverResult<T> result, const char* answer, const char* failure) {
    if (result) {
      if (answer != nullptr) tap_.answered(answer);
    } else {
      tap_.answered(is_sticky(result.error()) ? "-sticky" : failure);
    }
    return result;
  }

  Tap& tap_;
};

Tap::Tap(const Bounds& bounds, const std::array<StreamId, stream_count>& streams)
    : abstraction_(bounds, streams), state_(nothing_held(bounds)) {}

void Tap::listen(testing::WorldOptions& options) {
  options.wrap_driver = [this](Driver& recorded) {
    return std::make_unique<Listener>(recorded, *this);
  };
  options.meddle = [this](AllDevices& allocator) { step(allocator, nullptr); };
}

void Tap::step(AllDevices& allocator, const Asked* asked) {
  allocator_ = &allocator;
  Abstract after = allocator.device(0).inspect(
      [&](const DeviceState& state) { return abstraction_.of(state, out_, slots_); });
  if (after.empty()) {
    after = {-1};  // Larger than the bounds.
  } else if (asked != nullptr) {
    after.insert(after.end(), {1, asked->size, asked->stream});
  } else {
    after.insert(after.end(), {0, 0, 0});
  }
  const Transition transition{std::exchange(state_, after), std::exchange(answers_, {}), after};
  if (tell) tell(transition);
}

void Tap::during_malloc() {
  const auto act = std::exchange(meanwhile, nullptr);
  step(*allocator_, &next_request);
  act(*allocator_);
  step(*allocator_, &next_request);
}

std::string line_of(const Transition& transition) {
  std::string line = in_text(transition.before) + " |";
  for (const std::string& answer : transition.answers) line += ' ' + answer;
  return line + " | " + in_text(transition.after);
}

Abstract nothing_held(const Bounds& bounds) {
  const int blocks = bounds.segments * bounds.granules;
  Abstract nothing(static_cast<std::size_t>(2 * bounds.segments + 13 * blocks + stream_count));
  nothing.push_back(blocks * (stream_count - 1));
  nothing.insert(nothing.end(), static_cast<std::size_t>(6 + bounds.segments + 3), 0);
  return nothing;
}

}  // namespace cairn::protocol
