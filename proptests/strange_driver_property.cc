// Answers that no driver should give: refused with the documented error, and nothing is lost by it.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "cairn/allocator.h"
#include "public_face_commands.h"
#include "small_machine.h"
#include "testing/difference.h"

namespace {

using cairn::Address;
using cairn::BlockMap;
using cairn::Bytes;
using cairn::CudaStatus;
using cairn::DeviceStats;
using cairn::DriverCall;
using cairn::Error;
using cairn::ErrorCode;
using cairn::Options;
using cairn::SegmentInfo;
using cairn::StreamIdentity;
using cairn::proptests::draw;
using cairn::proptests::SmallMachine;

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr CudaStatus lost{719};

// Some live blocks, and a segment at least that is in use.
void fill(SmallMachine& machine) {
  const int blocks = draw(1, 4);
  for (int i = 0; i < blocks; ++i) machine.allocate(draw<std::size_t>(1, 11 * mib), 0);
  if (draw(0, 2) == 1) machine.free(draw<std::size_t>(0, 4));
  machine.allocate(600, 0);
}

// `act` on another thread, to its end.
template <class Act>
auto elsewhere(Act act) {
  return [act] { std::thread(act).join(); };
}

// Where memory of `size` cannot be.
Address impossible_address(const SmallMachine& machine, std::size_t size) {
  const BlockMap map = machine.allocator->block_map(0);
  const SegmentInfo& segment = map[draw<std::size_t>(0, map.size())];
  switch (draw(0, 6)) {
    case 0:
      return {};
    case 1:
      return {segment.address + draw<std::uint64_t>(1, 512)};
    case 2:  // It ends behind the last address there is.
      return {~std::uint64_t{0} - 511};
    case 3:  // Below a segment, and into it.
      return {segment.address - size + 512 * draw<std::uint64_t>(1, 100)};
    case 4:  // Its very place.
      return {segment.address};
    default:  // Inside one.
      return {segment.address + 512 * draw<std::uint64_t>(1, segment.size_bytes / 512)};
  }
}

RC_GTEST_PROP(StrangeDriver, MemoryThatCannotBeIsRefused, ()) {
  SmallMachine machine;
  fill(machine);
  const std::size_t size = 2 * mib * draw<std::size_t>(6, 10);  // A segment of its own.
  const DeviceStats stats = machine.allocator->stats(0);
  const BlockMap map = machine.allocator->block_map(0);
  machine.strange.next_address = impossible_address(machine, size);
  Error why;
  RC_ASSERT(!machine.allocate(size, 1, &why));
  RC_ASSERT(why.code == ErrorCode::cuda_error);
  RC_ASSERT(machine.allocator->stats(0) == stats);
  RC_ASSERT(!cairn::testing::compare(map, machine.allocator->block_map(0)));
  machine.check();
  RC_ASSERT((machine.allocate(size, 1) != nullptr));
  machine.check();
  machine.wind_down();
}

// Memory that has no aligned range is kept, and serves who asks for less.
RC_GTEST_PROP(StrangeDriver, MemoryThatIsNotAlignedAsAskedIsKept, ()) {
  SmallMachine machine;
  fill(machine);
  const std::size_t size = 2 * mib * draw<std::size_t>(6, 10);
  const Address odd{(std::uint64_t{1} << 45) + 512 * draw<std::uint64_t>(1, 4096)};
  RC_ASSERT(bool(machine.gpu.set_next_address(0, odd)));
  const cairn::Request request{size, 0, machine.stream(2), 2 * mib};
  const std::int64_t held = machine.allocator->stats(0).reserved_bytes.all.current;
  Error why;
  RC_ASSERT(!machine.allocator->try_allocate(request, &why));
  RC_ASSERT(why.code == ErrorCode::unsupported);
  const DeviceStats stats = machine.allocator->stats(0);
  RC_ASSERT(stats.reserved_bytes.all.current == held + static_cast<std::int64_t>(size));
  machine.check();
  machine.strange.next_address = Address{};  // The driver need not be asked.
  const auto served = reinterpret_cast<std::uintptr_t>(machine.allocate(size, 2));
  RC_ASSERT(served == odd.value);
  machine.strange.next_address.reset();
  machine.wind_down();
}

RC_GTEST_PROP(StrangeDriver, AStreamIdThatCannotBeIsRefused, ()) {
  Options options;
  options.stream_identity = StreamIdentity::id;
  SmallMachine machine(options);
  fill(machine);
  const DeviceStats stats = machine.allocator->stats(0);
  constexpr std::uint64_t special = std::uint64_t{1} << 61;
  machine.strange.id = *rc::gen::element<std::uint64_t>(0, special, special * 2, ~std::uint64_t{0});
  void* const block = machine.held.front().pointer;
  const cairn::Stream stream = machine.stream(draw<std::size_t>(0, 3));
  cairn::Allocator& allocator = *machine.allocator;
  RC_ASSERT_THROWS_AS(allocator.allocate({100, 0, stream}), cairn::InvalidArgument);
  RC_ASSERT_THROWS_AS(allocator.record_stream(block, stream), cairn::InvalidArgument);
  RC_ASSERT_THROWS_AS(allocator.free_on(block, stream), cairn::InvalidArgument);
  RC_ASSERT_THROWS_AS(allocator.forget_stream(0, stream), cairn::InvalidArgument);
  RC_ASSERT(allocator.stats(0) == stats);
  machine.strange.id.reset();
  machine.check();
  machine.wind_down();
}

RC_GTEST_PROP(StrangeDriver, NoMemoryOfTheHostIsSaid, ()) {
  SmallMachine machine;
  fill(machine);
  const DeviceStats stats = machine.allocator->stats(0);
  machine.strange.throws_next = true;
  Error why;
  const bool asks_why = *rc::gen::arbitrary<bool>();
  RC_ASSERT(!machine.allocate(13 * mib, 1, asks_why ? &why : nullptr));
  RC_ASSERT(why.code == (asks_why ? ErrorCode::out_of_host_memory : ErrorCode::none));
  RC_ASSERT(machine.allocator->stats(0) == stats);
  machine.check();
  machine.wind_down();
}

RC_GTEST_PROP(StrangeDriver, ADeviceWithoutMemoryServesNothing, ()) {
  SmallMachine machine;
  machine.strange.total = Bytes{0};
  cairn::Allocator allocator(machine.strange);
  const double fraction = draw(0, 100) / 100.0;
  allocator.set_memory_fraction(0, fraction);
  RC_ASSERT(allocator.memory_fraction(0) == 1.0);
  RC_ASSERT_THROWS_AS(allocator.allocate({draw<std::size_t>(1, mib)}), cairn::OutOfMemory);
}

// So many divisions that their product with 512 wraps: blocks stay as large as asked for.
RC_GTEST_PROP(StrangeDriver, SettingsMayBeAsLargeAsTheyGo, ()) {
  Options options;
  options.roundup_power2_divisions.fill(std::uint64_t{1} << draw(55, 64));
  SmallMachine machine(options);
  for (int i = 0; i < 6; ++i) machine.allocate(draw<std::size_t>(1, 1 << draw(1, 21)), 0);
  std::int64_t requested = 0;
  for (const auto& each : machine.held) requested += static_cast<std::int64_t>(each.size);
  const DeviceStats stats = machine.allocator->stats(0);
  RC_ASSERT(stats.requested_bytes.all.current == requested);
  RC_ASSERT(stats.allocated_bytes.all.current >= requested);
  machine.check();
  machine.wind_down();
}

// While the driver is asked without the lock, the settings change, and a segment must be larger.
RC_GTEST_PROP(StrangeDriver, SettingsChangeWhileTheDriverIsAsked, ()) {
  Options options;
  options.release_lock_on_cudamalloc = true;
  SmallMachine machine(options);
  fill(machine);
  const char* const text =
      *rc::gen::element("roundup_power2_divisions:1", "large_segment_size_mb:64",
                        "roundup_power2_divisions:[16:2]", "release_lock_on_cudamalloc:False");
  auto change = elsewhere([&] { machine.allocator->reconfigure(text); });
  (*rc::gen::arbitrary<bool>() ? machine.strange.before_malloc : machine.strange.after_malloc) =
      change;
  const std::size_t size = draw<std::size_t>(7 * mib, 25 * mib);
  RC_ASSERT((machine.allocate(size, 1) != nullptr));
  machine.check();
  machine.wind_down();
}

// While the driver is asked without the lock, or a callback runs, another thread finds the device
// lost: the request fails with that, and what the driver gave meanwhile is left alone.
RC_GTEST_PROP(StrangeDriver, TheDeviceIsLostDuringARequest, ()) {
  Options options;
  options.release_lock_on_cudamalloc = true;
  SmallMachine machine(options);
  fill(machine);
  bool was_lost = false;  // Told by the other thread, from which nothing may be thrown.
  auto lose = elsewhere([&] {
    machine.faults.add({.call = DriverCall::stream_sync, .error = lost, .sticky = true});
    machine.faults.add({.call = DriverCall::free, .error = lost, .sticky = true});
    Error why;
    was_lost = !machine.allocator->try_empty_cache(&why) && why.cuda_code == 719;
  });
  machine.allocate(2 * mib, 2);
  machine.free(machine.held.size() - 1);  // That there is something to give back.
  const int when = draw(0, 3);
  if (when == 0) machine.strange.before_malloc = lose;
  if (when == 1) machine.strange.after_malloc = lose;
  if (when == 2)
    machine.allocator->add_free_memory_callback([&](int) {
      lose();
      return true;
    });
  Error why;
  RC_ASSERT(!machine.allocate(15 * mib, 1, &why));
  RC_ASSERT(was_lost);
  RC_ASSERT(why.code == ErrorCode::cuda_error);
  RC_ASSERT(why.cuda_code == 719);
  if (when == 0) machine.broken.clear();  // It could not know yet when it asked.
  machine.check();
  while (!machine.held.empty()) machine.free(0);
  machine.check();
  machine.allocator.reset();
  machine.rules.expect_all_back();
  machine.check_watchers();
}

}  // namespace
