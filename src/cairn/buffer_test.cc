#include "cairn/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <utility>

#include "allocator/scripted_driver.h"

namespace cairn {
namespace {

Stream stream(std::uintptr_t handle) { return reinterpret_cast<Stream>(handle); }

static_assert(!std::is_copy_constructible_v<Buffer> && !std::is_copy_assignable_v<Buffer>);
static_assert(std::is_nothrow_move_constructible_v<Buffer>);
static_assert(std::is_nothrow_move_assignable_v<Buffer>);

class BufferTest : public testing::Test {
 protected:
  std::int64_t blocks() const { return allocator_.stats(0).allocation.all.current; }

  ScriptedDriver driver_;
  Allocator allocator_{driver_};
};

TEST_F(BufferTest, ItsMemoryIsFreedAtItsEnd) {
  {
    const Buffer buffer(allocator_, {1000, 0, stream(0x51)});
    EXPECT_NE(buffer.data(), nullptr);
    EXPECT_EQ(buffer.size_bytes(), 1000U);
    EXPECT_EQ(buffer.device(), 0);
    EXPECT_EQ(buffer.stream(), stream(0x51));
    EXPECT_EQ(blocks(), 1);
  }
  EXPECT_EQ(blocks(), 0);
}

TEST_F(BufferTest, AnEmptyOneHasNothing) {
  Buffer empty;
  const Buffer of_no_bytes(allocator_, {0});
  EXPECT_EQ(empty.data(), nullptr);
  EXPECT_EQ(of_no_bytes.data(), nullptr);
  empty.free();
  empty.free_on(stream(0x52));
  empty.record_stream(stream(0x52));
  EXPECT_EQ(empty.release(), nullptr);
  EXPECT_EQ(blocks(), 0);
}

TEST_F(BufferTest, AMoveGivesTheMemoryAway) {
  Buffer first(allocator_, {1000, 0, stream(0x51)});
  void* const block = first.data();
  Buffer second(std::move(first));
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(first.size_bytes(), 0U);
  EXPECT_EQ(second.data(), block);
  Buffer third(allocator_, {2000});
  third = std::move(second);
  EXPECT_EQ(third.data(), block);
  EXPECT_EQ(third.size_bytes(), 1000U);
  EXPECT_EQ(blocks(), 1) << "what was in it before is freed";
}

TEST_F(BufferTest, MovedToItselfItIsAsBefore) {
  Buffer buffer(allocator_, {1000});
  Buffer& same = buffer;
  buffer = std::move(same);
  EXPECT_NE(buffer.data(), nullptr);
  EXPECT_EQ(blocks(), 1);
}

TEST_F(BufferTest, ARecordedStreamDelaysTheNextUse) {
  void* block = nullptr;
  {
    Buffer buffer(allocator_, {1000, 0, stream(0x51)});
    buffer.record_stream(stream(0x52));
    block = buffer.data();
  }
  EXPECT_NE(allocator_.allocate({1000, 0, stream(0x51)}), block);
  driver_.finish_all();
  EXPECT_EQ(allocator_.allocate({1000, 0, stream(0x51)}), block);
}

TEST_F(BufferTest, FreedOnAStreamItWaitsForThatOne) {
  Buffer buffer(allocator_, {1000, 0, stream(0x51)});
  void* const block = buffer.data();
  buffer.free_on(stream(0x52));
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_NE(allocator_.allocate({1000, 0, stream(0x51)}), block);
  driver_.finish_all();
  EXPECT_EQ(allocator_.allocate({1000, 0, stream(0x51)}), block);
}

TEST_F(BufferTest, WhatIsReleasedIsTheCallers) {
  void* block = nullptr;
  {
    Buffer buffer(allocator_, {1000});
    block = buffer.release();
    EXPECT_EQ(buffer.data(), nullptr);
  }
  EXPECT_EQ(blocks(), 1);
  allocator_.free(block);
}

TEST_F(BufferTest, AFreeThatFailsLeavesTheMemory) {
  Buffer buffer(allocator_, {1000, 0, stream(0x51)});
  buffer.record_stream(stream(0x52));
  driver_.answer(DriverCall::event_record, {refused});
  EXPECT_THROW(buffer.free(), CudaError);
  EXPECT_NE(buffer.data(), nullptr);
  buffer.free();
  EXPECT_EQ(buffer.data(), nullptr);
}

TEST_F(BufferTest, ARequestThatFailsThrows) {
  EXPECT_THROW(Buffer(allocator_, {1000, 3}), InvalidArgument);
  driver_.answer(DriverCall::malloc, {oom, oom});
  EXPECT_THROW(Buffer(allocator_, {1000}), OutOfMemory);
  EXPECT_EQ(blocks(), 0);
}

}  // namespace
}  // namespace cairn
