// The public face: how an allocator is made and unmade, streams, and both ways to fail.
#include "cairn/allocator.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>

#include "allocator/device_in_test.h"

namespace cairn {
namespace {

using namespace literals;

Stream stream(std::uintptr_t handle) { return reinterpret_cast<Stream>(handle); }

// Sets a variable of the environment for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

constexpr std::uint64_t mib = 1 << 20;

TEST(AllocatorMade, AsksTheDriverNothing) {
  ScriptedDriver driver(3);
  const Allocator allocator(driver);
  EXPECT_EQ(allocator.device_count(), 3);
  EXPECT_EQ(driver.calls(), Calls{});
  DeviceStats none;
  none.max_split_size_bytes = Options::unlimited;
  EXPECT_EQ(allocator.stats(2), none);
}

TEST(AllocatorMade, FromOptions) {
  ScriptedDriver driver;
  Options options;
  options.large_segment_size_bytes = 32 * mib;
  options.max_split_size_bytes = 64 * mib;
  options.max_non_split_rounding_bytes = 32 * mib;
  Allocator allocator(driver, options);
  allocator.allocate({2 * mib});
  EXPECT_EQ(driver.calls(), Calls{"malloc 0 32MiB"});
  EXPECT_EQ(allocator.stats(0).max_split_size_bytes, 64 * mib);
}

TEST(AllocatorMade, FromText) {
  ScriptedDriver driver;
  Allocator allocator = Allocator::from_settings(driver, "large_segment_size_mb:24,");
  allocator.allocate({2 * mib});
  EXPECT_EQ(driver.calls(), Calls{"malloc 0 24MiB"});
}

TEST(AllocatorMade, FromTheEnvironment) {
  ScriptedDriver driver;
  const Variable theirs("PYTORCH_CUDA_ALLOC_CONF", "large_segment_size_mb:22");
  Allocator::from_environment(driver).allocate({2 * mib});
  EXPECT_EQ(driver.calls(), (Calls{"malloc 0 22MiB", "free 0 #1"}));
  const Variable ours("CAIRN_ALLOC_CONF", "large_segment_size_mb:26");
  Allocator::from_environment(driver).allocate({2 * mib});
  EXPECT_EQ(driver.calls(), (Calls{"malloc 0 26MiB", "free 0 #2"}));
}

template <class Make>
std::string words_of_refusal(Make&& make) {
  try {
    make();
  } catch (const InvalidArgument& refused) {
    return refused.what();
  }
  return "not refused";
}

TEST(AllocatorMade, BadOptionsAreRefusedByName) {
  ScriptedDriver driver;
  Options options;
  options.max_split_size_bytes = 1 * mib;
  const auto words = words_of_refusal([&] { Allocator(driver, options); });
  EXPECT_NE(words.find("max_split_size_bytes"), std::string::npos) << words;
  options = {};
  options.roundup_power2_divisions[3] = 3;
  EXPECT_THROW(Allocator(driver, options), InvalidArgument);
  options = {};
  options.large_segment_size_bytes = 20 * mib + 1;
  EXPECT_THROW(Allocator(driver, options), InvalidArgument);
}

TEST(AllocatorMade, BadTextIsRefusedByKey) {
  ScriptedDriver driver;
  const auto words =
      words_of_refusal([&] { Allocator::from_settings(driver, "max_split_size_mb:20x"); });
  EXPECT_NE(words.find("max_split_size_mb"), std::string::npos) << words;
  const Variable ours("CAIRN_ALLOC_CONF", "nonsense:1");
  const auto environment = words_of_refusal([&] { Allocator::from_environment(driver); });
  EXPECT_NE(environment.find("CAIRN_ALLOC_CONF"), std::string::npos) << environment;
  EXPECT_NE(environment.find("nonsense"), std::string::npos) << environment;
}

TEST(AllocatorMade, SettingsThatAreNotThereYetAreRefusedByName) {
  ScriptedDriver driver;
  for (const char* setting : {"backend:cudaMallocAsync", "expandable_segments:True"}) {
    try {
      Allocator::from_settings(driver, setting);
      ADD_FAILURE() << setting;
    } catch (const Unsupported& error) {
      EXPECT_NE(std::string(error.what()).find(setting), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(driver.calls(), Calls{});
}

TEST(AllocatorMade, ARefusedSettingOfTheEnvironmentIsSaidToBeFromThere) {
  ScriptedDriver driver;
  const Variable theirs("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True");
  try {
    Allocator::from_environment(driver);
    ADD_FAILURE();
  } catch (const Unsupported& error) {
    const std::string words = error.what();
    EXPECT_NE(words.find("expandable_segments:True"), std::string::npos) << words;
    EXPECT_NE(words.find("PYTORCH_CUDA_ALLOC_CONF"), std::string::npos) << words;
  }
  const Variable ours("CAIRN_ALLOC_CONF", "");
  Allocator::from_environment(driver);
}

TEST(AllocatorMade, WarningsDoNotStandInTheWay) {
  ScriptedDriver driver;
  const Variable theirs("PYTORCH_CUDA_ALLOC_CONF", "of_the_future:1,large_segment_size_mb:22");
  testing::internal::CaptureStderr();
  Allocator::from_environment(driver).allocate({2 * mib});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("cairn: warning: "), 0U) << said;
  EXPECT_NE(said.find("of_the_future"), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
  EXPECT_EQ(driver.calls().front(), "malloc 0 22MiB");
}

// --- and unmade ---

TEST(AllocatorUnmade, EverySegmentGoesBackOnceToItsDevice) {
  ScriptedDriver driver(2);
  {
    Allocator allocator(driver);
    allocator.allocate({1 * mib, 0});                  // Live,
    allocator.free(allocator.allocate({2 * mib, 1}));  // cached,
    allocator.allocate({700, 1, stream(0xabc)});       // and part of a segment.
    allocator.free(allocator.allocate({30 * mib, 0}));
    allocator.empty_cache();  // Two are back already.
    EXPECT_EQ(driver.out().size(), 2U);
    driver.calls();
  }
  EXPECT_EQ(driver.out().size(), 0U);
  EXPECT_EQ(driver.calls(), (Calls{"free 0 #1", "free 1 #3"}));
}

TEST(AllocatorUnmade, WhatTheDriverSaysThenIsNotLookedAt) {
  ScriptedDriver driver;
  {
    Allocator allocator(driver);
    allocator.allocate({1 * mib, 0, stream(1)});
    allocator.allocate({1 * mib, 0, stream(2)});
    driver.answer({CudaStatus::unknown});
    driver.calls();
  }
  EXPECT_EQ(driver.calls(), (Calls{"free 0 #1", "free 0 #2"}));
}

TEST(AllocatorUnmade, AMovedOneKeepsItsMemory) {
  static_assert(!std::is_copy_constructible_v<Allocator>);
  ScriptedDriver driver;
  Allocator first(driver);
  void* p = first.allocate({1000});
  Allocator second = std::move(first);
  second.free(p, 1000, nullptr);
  EXPECT_EQ(driver.out().size(), 1U);
  second = Allocator(driver);  // The memory of the old one goes back.
  EXPECT_EQ(driver.out().size(), 0U);
}

// --- streams ---

TEST(AllocatorStreams, DevicesShareNothing) {
  ScriptedDriver driver(2);
  Allocator allocator(driver);
  void* p = allocator.allocate({1000, 0});
  allocator.free(p);
  EXPECT_NE(allocator.allocate({1000, 1}), p);
  EXPECT_EQ(driver.calls(), (Calls{"malloc 0 2MiB", "malloc 1 2MiB"}));
  EXPECT_EQ(allocator.block_map(1).front().device, 1);
  allocator.reset_accumulated_stats(0);
  EXPECT_EQ(allocator.stats(0).num_device_alloc, 0);
  EXPECT_EQ(allocator.stats(1).num_device_alloc, 1);
  allocator.reset_peak_stats(0);
  EXPECT_EQ(allocator.stats(0).allocation.all.peak, 0);
  EXPECT_EQ(allocator.stats(1).allocation.all.peak, 1);
}

// --- both ways to fail ---

TEST(AllocatorFails, AsAnExceptionOfItsKind) {
  ScriptedDriver driver;
  Allocator allocator(driver);
  driver.answer({oom, oom});
  EXPECT_THROW(allocator.allocate({1000}), OutOfMemory);
  driver.answer({CudaStatus::unknown});
  try {
    allocator.allocate({1000});
    FAIL();
  } catch (const CudaError& error) {
    EXPECT_EQ(error.code(), ErrorCode::cuda_error);
    EXPECT_EQ(error.error().cuda_code, 999);
  }
  driver.next_address(Address{0x7e0000000200});
  EXPECT_THROW(allocator.allocate({20 * mib, 0, nullptr, mib}), Unsupported);
  driver.answer({CudaStatus::unknown});
  EXPECT_THROW(allocator.empty_cache(), CudaError);
}

TEST(AllocatorFails, OrWithAReason) {
  ScriptedDriver driver;
  Allocator allocator(driver);
  driver.answer({oom, oom, ok, CudaStatus::unknown});
  Error why;
  EXPECT_EQ(allocator.try_allocate({1000}, &why), nullptr);
  EXPECT_EQ(why.code, ErrorCode::out_of_memory);
  EXPECT_EQ(why.cuda_code, 2);
  EXPECT_EQ(allocator.try_allocate({1000}, &why), nullptr);
  EXPECT_EQ(why.code, ErrorCode::cuda_error);
  void* p = allocator.try_allocate({1000}, &why);
  EXPECT_NE(p, nullptr);
  EXPECT_EQ(why.code, ErrorCode::cuda_error);  // As it was.
  EXPECT_TRUE(allocator.try_free(p, &why));
  driver.answer({CudaStatus::unknown});
  EXPECT_FALSE(allocator.try_empty_cache(&why));
  EXPECT_EQ(why.cuda_code, 999);
  EXPECT_TRUE(allocator.try_empty_cache(&why));
}

TEST(AllocatorFails, EmptyCacheLeavesTheDevicesBehindAlone) {
  ScriptedDriver driver(2);
  Allocator allocator(driver);
  allocator.free(allocator.allocate({1000, 0}));
  allocator.free(allocator.allocate({1000, 1}));
  driver.answer({CudaStatus::unknown});
  Error why;
  EXPECT_FALSE(allocator.try_empty_cache(&why));
  EXPECT_NE(why.message.find("device 0"), std::string::npos);
  EXPECT_EQ(driver.out().size(), 2U);
  allocator.empty_cache();
  EXPECT_EQ(driver.out().size(), 0U);
}

}  // namespace
}  // namespace cairn
