// Drivers that fail while memory and events go back, at the end of the allocator too: a lost device
// is asked nothing any more, what else fails is passed over, and what is live stays.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cairn/allocator.h"
#include "public_face_commands.h"
#include "small_machine.h"

namespace {

using cairn::CudaStatus;
using cairn::DriverCall;
using cairn::Error;
using cairn::ErrorCode;
using cairn::FaultPlan;
using cairn::Stream;
using cairn::proptests::as_stream;
using cairn::proptests::draw;
using cairn::proptests::SmallMachine;

constexpr std::size_t mib = std::size_t{1} << 20;

// A program of a few streams that use each other's memory, and end.
class Work {
 public:
  explicit Work(SmallMachine& machine) : machine_(machine) {}

  void step() {
    switch (draw(0, 7)) {
      case 0:
        if (!machine_.held.empty()) use(machine_.held[any()].pointer);
        break;
      case 1:
        free();
        break;
      case 2:
        end_stream();
        break;
      case 3:
        machine_.allocator->try_empty_cache();
        break;
      case 4:
        machine_.allocator->try_process_events(0);
        break;
      default:
        machine_.allocate(draw<std::size_t>(1, 3 * mib), draw<std::size_t>(0, 3));
    }
  }
  // Blocks that several streams use, some of them at their end: queues with events in them.
  void share_and_end() {
    for (int i = 0; i < 4; ++i) {
      machine_.allocate(mib, 0);
      if (machine_.held.empty()) continue;
      use(machine_.held.back().pointer);
      use(machine_.held.back().pointer);
    }
    end_stream();
    for (int i = 0; i < 3; ++i) free();
  }
  void use(void* block) {
    const auto stream = draw<std::size_t>(0, 3);
    launch(stream);
    Error why;
    if (!machine_.allocator->try_record_stream(block, machine_.stream(stream), 0, &why))
      RC_ASSERT(why.code == ErrorCode::cuda_error);
  }
  void free() {
    if (machine_.held.empty()) return;
    const std::size_t index = any();
    Error why;
    if (machine_.allocator->try_free(machine_.held[index].pointer, &why)) {
      machine_.held.erase(machine_.held.begin() + static_cast<std::ptrdiff_t>(index));
    } else {
      RC_ASSERT(why.code == ErrorCode::cuda_error);
    }
  }
  // Announced; one that the allocator could not take note of goes on.
  void end_stream() {
    const auto index = draw<std::size_t>(0, 3);
    launch(index);
    if (!machine_.allocator->try_forget_stream(0, machine_.stream(index))) return;
    const std::uint64_t handle = machine_.streams[index];
    RC_ASSERT(bool(machine_.gpu.destroy_stream({0, handle}, true)));
    machine_.rules.stream_ended(handle);
    machine_.streams[index] = machine_.gpu.make_stream({})->handle;
    machine_.rules.stream_began(machine_.streams[index]);
  }

 private:
  std::size_t any() const { return draw<std::size_t>(0, 100) % machine_.held.size(); }
  // Work that is not done soon, and touches no memory.
  void launch(std::size_t stream) {
    RC_ASSERT(bool(machine_.gpu.launch({0, machine_.streams[stream]}, {}, 1000)));
  }

  SmallMachine& machine_;
};

FaultPlan draw_plan(CudaStatus error, bool sticky) {
  constexpr std::array calls{DriverCall::free,        DriverCall::stream_sync,
                             DriverCall::event_sync,  DriverCall::event_destroy,
                             DriverCall::event_query, DriverCall::event_record,
                             DriverCall::event_create};
  FaultPlan plan;
  plan.call = calls.at(draw<std::size_t>(0, calls.size()));
  plan.at = draw<std::uint64_t>(1, 5);
  plan.error = error;
  plan.sticky = sticky;
  if (!sticky) plan.count = std::nullopt;
  return plan;
}

RC_GTEST_PROP(FailingEnd, ALostDeviceIsAskedNothing, ()) {
  SmallMachine machine;
  Work work(machine);
  const int before = draw(0, 30);
  for (int i = 0; i < before; ++i) work.step();
  work.share_and_end();
  machine.faults.add(draw_plan(CudaStatus{719}, true));
  const int after = draw(0, 10);
  for (int i = 0; i < after; ++i) {
    work.step();
    machine.check();
  }
  if (*rc::gen::arbitrary<bool>()) work.share_and_end();
  machine.check();
  machine.allocator.reset();
  machine.rules.expect_all_back();  // But for what is of a lost device.
  machine.check_watchers();
}

// What goes back is as if nothing had failed, but for what failed.
RC_GTEST_PROP(FailingEnd, FailuresOfTheEndArePassedOver, ()) {
  SmallMachine machine;
  Work work(machine);
  const int before = draw(0, 30);
  for (int i = 0; i < before; ++i) work.step();
  work.share_and_end();
  machine.check();
  const FaultPlan plan = draw_plan(CudaStatus::unknown, false);
  machine.faults.add(plan);
  machine.allocator.reset();
  machine.check_watchers();
  if (plan.call == DriverCall::free) return;
  RC_ASSERT(machine.gpu.device_free(0) == machine.gpu.mem_info(0)->total);
  if (plan.call == DriverCall::event_destroy) return;
  machine.rules.expect_all_back();
  machine.check_watchers();
}

// Events could not be waited for, and while they go back the device is lost.
RC_GTEST_PROP(FailingEnd, ADeviceMayBeLostAmongTheLastEvents, ()) {
  SmallMachine machine;
  Work work(machine);
  const int before = draw(0, 10);
  for (int i = 0; i < before; ++i) work.step();
  work.share_and_end();
  machine.check();
  machine.faults.add({DriverCall::event_sync, 1, CudaStatus::unknown, std::nullopt});
  FaultPlan loss{DriverCall::event_destroy, draw<std::uint64_t>(1, 5), CudaStatus{719}};
  loss.sticky = true;
  machine.faults.add(loss);
  machine.allocator.reset();
  RC_ASSERT(machine.gpu.device_free(0) == machine.gpu.mem_info(0)->total);
  machine.check_watchers();
}

// The end of a stream that the driver knows no more, and of which no context can be told: all of
// the device is waited for, and no fence stands.
RC_GTEST_PROP(FailingEnd, AStreamMayEndWithoutAFence, ()) {
  SmallMachine machine;
  Work work(machine);
  const int blocks = draw(2, 6);
  RC_ASSERT(bool(machine.gpu.launch({0, machine.streams[1]}, {}, 1000)));
  for (int i = 0; i < blocks; ++i) {
    machine.allocate(draw<std::size_t>(1, 3 * mib), 0);
    machine.allocator->record_stream(machine.held.back().pointer, machine.stream(1));
    if (i == 0) work.free();  // Waits for an event of the stream that will end.
  }
  machine.faults.add({DriverCall::event_record, 1, CudaStatus::invalid_handle, std::nullopt});
  machine.faults.add({DriverCall::ctx_record, 1, CudaStatus::not_supported, std::nullopt});
  machine.allocator->forget_stream(0, machine.stream(1));
  machine.faults.clear();
  machine.check();
  while (!machine.held.empty()) work.free();
  const auto active = machine.allocator->stats(0).active.all.current;
  RC_ASSERT(active <= 1);  // Nothing waits for what is over, but the first.
  machine.allocator->process_events(0);
  RC_ASSERT(machine.allocator->stats(0).active.all.current == 0);
  machine.wind_down();
}

}  // namespace
