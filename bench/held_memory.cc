#include "bench/held_memory.h"

#include <vector>

#include "bench/cairn_contender.h"
#include "driver/recording_driver.h"

namespace cairn::bench {
namespace {

// Cairn over a driver whose calls are counted.
class CountedCairn {
 public:
  void* allocate(std::size_t size_bytes, Stream stream) {
    return allocator_.allocate({size_bytes, 0, stream});
  }
  void free(void* pointer) { allocator_.free(pointer); }
  void record_stream(void* pointer, Stream stream) { allocator_.record_stream(pointer, stream); }

  HeldMemory held() const {
    const auto calls = [&](DriverCall call) { return recorded_.calls(call); };
    HeldMemory held;
    held.peak_reserved_bytes =
        static_cast<std::uint64_t>(allocator_.stats(0).reserved_bytes.all.peak);
    held.malloc_calls = calls(DriverCall::malloc);
    held.free_calls = calls(DriverCall::free);
    held.event_calls = calls(DriverCall::event_create) + calls(DriverCall::event_record) +
                       calls(DriverCall::event_query) + calls(DriverCall::event_sync) +
                       calls(DriverCall::event_destroy) + calls(DriverCall::ctx_record);
    return held;
  }

 private:
  NullDriver driver_;
  RecordingDriver recorded_{driver_};
  Allocator allocator_{recorded_};
};

}  // namespace

HeldMemory held_by_cairn(const Sequence& sequence) {
  CountedCairn cairn;
  std::vector<void*> addresses(sequence.blocks);
  play(sequence, cairn, addresses);
  return cairn.held();
}

HeldMemory held_directly(const Sequence& sequence) {
  HeldMemory held;
  held.peak_reserved_bytes = peak_of_live(sequence, 512);
  for (const Step& step : sequence.steps) {
    if (step.kind == StepKind::allocate) ++held.malloc_calls;
    if (step.kind == StepKind::free) ++held.free_calls;
  }
  return held;
}

}  // namespace cairn::bench
