#include "cairn/stl_allocator.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include "allocator/scripted_driver.h"

namespace cairn {
namespace {

Stream stream(std::uintptr_t handle) { return reinterpret_cast<Stream>(handle); }

class StlAllocatorTest : public testing::Test {
 protected:
  ScriptedDriver driver_{2};
  Allocator allocator_{driver_};
  StlAllocator<float> floats_{allocator_, 0, stream(0x51)};
};

TEST_F(StlAllocatorTest, CountsAreOfObjects) {
  float* const numbers = floats_.allocate(1000);
  EXPECT_EQ(allocator_.stats(0).requested_bytes.all.current, 4000);
  floats_.deallocate(numbers, 1000);
  EXPECT_EQ(allocator_.stats(0).allocation.all.current, 0);
  EXPECT_EQ(floats_.allocate(1000), numbers);
}

TEST_F(StlAllocatorTest, AllOfItIsOnItsDeviceAndStream) {
  StlAllocator<char> second(allocator_, 1, stream(0x52));
  EXPECT_NE(second.allocate(1), nullptr);
  EXPECT_EQ(allocator_.block_map(1).front().stream, 0x52U);
  EXPECT_TRUE(allocator_.block_map(0).empty());
}

TEST_F(StlAllocatorTest, TraitsKnowIt) {
  using Traits = std::allocator_traits<StlAllocator<float>>;
  float* const numbers = Traits::allocate(floats_, 3);
  Traits::deallocate(floats_, numbers, 3);
  static_assert(!Traits::is_always_equal::value);
  static_assert(std::is_same_v<Traits::rebind_alloc<int>, StlAllocator<int>>);
}

TEST_F(StlAllocatorTest, EqualMeansThatEitherCanFreeWhatTheOtherGave) {
  Allocator another(driver_);
  const StlAllocator<double> of_doubles(floats_);
  EXPECT_EQ(floats_, of_doubles);
  EXPECT_NE(floats_, StlAllocator<float>(allocator_, 1, stream(0x51)));
  EXPECT_NE(floats_, StlAllocator<float>(allocator_, 0, stream(0x52)));
  EXPECT_NE(floats_, StlAllocator<float>(another, 0, stream(0x51)));
  float* const numbers = floats_.allocate(1);
  StlAllocator<float>(of_doubles).deallocate(numbers, 1);
  EXPECT_EQ(allocator_.stats(0).allocation.all.current, 0);
}

TEST_F(StlAllocatorTest, WhatAnObjectWantsOfAlignmentIsAskedFor) {
  struct alignas(4096) Page {
    char bytes[4096];
  };
  StlAllocator<Page> pages(floats_);
  EXPECT_NE(floats_.allocate(1), nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages.allocate(2)) % 4096, 0U);
}

TEST_F(StlAllocatorTest, WhatCannotBeCountedOrHadThrows) {
  EXPECT_THROW(floats_.allocate(std::numeric_limits<std::size_t>::max() / 4 + 1),
               std::bad_array_new_length);
  EXPECT_THROW(floats_.allocate(std::size_t{1} << 60), OutOfMemory);
  EXPECT_EQ(floats_.allocate(0), nullptr);
  floats_.deallocate(nullptr, 0);
}

TEST_F(StlAllocatorTest, ADeallocationThrowsNothing) {
  float number = 0;
  static_assert(noexcept(floats_.deallocate(&number, 1)));
  floats_.deallocate(&number, 1);
}

}  // namespace
}  // namespace cairn
