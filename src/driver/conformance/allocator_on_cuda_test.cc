// The allocator over the CUDA driver, with an application's streams: what the allocator means to do
// with streams and events arrives in CUDA's calls.
#include "cairn/allocator.h"
#include "driver/conformance/conformance.h"

namespace cairn::conformance {
namespace {

Stream stream_of(StreamRef stream) {
  return reinterpret_cast<Stream>(static_cast<std::uintptr_t>(stream.handle));
}

TEST_P(DriverConformance, AnAllocatorWaitsForTheStreamsThatItIsToldOf) {
  Allocator allocator(driver());
  const StreamRef ours = make_stream();
  const StreamRef other = make_stream();
  void* const block = allocator.allocate({1 << 20, 0, stream_of(ours)});
  application().hold(other);
  allocator.record_stream(block, stream_of(other));
  allocator.free(block);
  EXPECT_NE(allocator.allocate({1 << 20, 0, stream_of(ours)}), block) << "it is in use";
  application().let_go(other);
  EXPECT_TRUE(driver().stream_sync(other));
  EXPECT_EQ(allocator.allocate({1 << 20, 0, stream_of(ours)}), block);
  EXPECT_EQ(allocator.stats(0).num_device_alloc, 1);
}

TEST_P(DriverConformance, AnAllocatorKeepsMemoryInStreamOrderWithoutWaiting) {
  Allocator allocator(driver());
  const StreamRef stream = make_stream();
  void* const block = allocator.allocate({1 << 20, 0, stream_of(stream)});
  application().hold(stream);
  const EventHandle event = record(stream);
  allocator.free(block);
  EXPECT_EQ(allocator.allocate({1 << 20, 0, stream_of(stream)}), block);
  EXPECT_FALSE(is_done(event));
  application().let_go(stream);
}

TEST_P(DriverConformance, AnAllocatorOutlivesAStreamWhoseEndWasAnnounced) {
  Allocator allocator(driver());
  const StreamRef ours = make_stream();
  const StreamRef other = make_stream();
  void* const block = allocator.allocate({1 << 20, 0, stream_of(ours)});
  allocator.record_stream(block, stream_of(other));
  allocator.forget_stream(0, stream_of(other));
  application().destroy_stream(other);
  allocator.free(block);
  allocator.forget_stream(0, stream_of(ours));
  application().destroy_stream(ours);
  allocator.empty_cache();
  EXPECT_EQ(allocator.stats(0).reserved_bytes.all.current, 0);
}

}  // namespace
}  // namespace cairn::conformance
