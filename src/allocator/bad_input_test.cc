// What callers pass that they should not: refused whole, in precise words, with nothing changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "allocator/device_in_test.h"
#include "cairn/allocator.h"

namespace cairn {
namespace {

using namespace literals;

constexpr std::size_t size_max = std::numeric_limits<std::size_t>::max();
constexpr std::size_t exbi = std::size_t{1} << 60;

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }
void* plus(void* base, std::ptrdiff_t offset) { return static_cast<char*>(base) + offset; }
Stream stream(std::uintptr_t handle) { return reinterpret_cast<Stream>(handle); }
std::string in_text(const void* p) {
  std::ostringstream text;
  text << "0x" << std::hex << reinterpret_cast<std::uintptr_t>(p);
  return text.str();
}

class BadInputTest : public testing::Test {
 protected:
  // Runs a call that must fail: as an exception of type E, and by its twin with an Error; both say
  // the same, and what is live stays.
  template <class E, class Throwing, class Twin>
  void refused(Throwing&& throwing, Twin&& twin, const std::vector<std::string>& words) {
    const std::vector<LiveBlocks> live = all_live();
    Error thrown;
    try {
      throwing();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const E& exception) {
      thrown = exception.error();
    }
    Error why;
    EXPECT_FALSE(twin(&why));
    EXPECT_EQ(why.code, thrown.code);
    EXPECT_EQ(why.cuda_code, thrown.cuda_code);
    EXPECT_EQ(why.message, thrown.message);
    if (why.code == ErrorCode::invalid_argument) {
      EXPECT_EQ(why.cuda_code, 0);  // CUDA has no part in it.
    }
    EXPECT_FALSE(twin(nullptr));
    for (const std::string& word : words) {
      EXPECT_NE(why.message.find(word), std::string::npos) << word << " in: " << why.message;
    }
    EXPECT_EQ(all_live(), live);
  }
  void allocation_refused(const Request& request, const std::vector<std::string>& words) {
    refused<InvalidArgument>([&] { allocator_.allocate(request); },
                             [&](Error* why) { return allocator_.try_allocate(request, why); },
                             words);
  }
  void free_refused(void* p, const std::vector<std::string>& words) {
    refused<InvalidArgument>([&] { allocator_.free(p); },
                             [&](Error* why) { return allocator_.try_free(p, why); }, words);
  }
  void checked_free_refused(void* p, std::size_t size, Stream s,
                            const std::vector<std::string>& words) {
    refused<InvalidArgument>([&] { allocator_.free(p, size, s); },
                             [&](Error* why) { return allocator_.try_free(p, size, s, why); },
                             words);
  }
  std::vector<LiveBlocks> all_live() const {
    return {live_blocks(allocator_.block_map(0)), live_blocks(allocator_.block_map(1))};
  }

  ScriptedDriver driver_{2};
  Allocator allocator_{driver_};
};

// --- sizes ---

TEST_F(BadInputTest, NoBytesAreNullAndNoBlock) {
  EXPECT_EQ(allocator_.allocate({0}), nullptr);
  Error why;
  EXPECT_EQ(allocator_.try_allocate({0, 1}, &why), nullptr);
  EXPECT_FALSE(why);
  EXPECT_EQ(driver_.calls(), Calls{});
  EXPECT_EQ(allocator_.stats(0).allocation.all, Stat{});
}

TEST_F(BadInputTest, NoBytesOfNoDeviceAreAMistakeStill) {
  allocation_refused({0, 2}, {"device 2"});
  allocation_refused({0, 0, nullptr, 3}, {"alignment"});
}

TEST_F(BadInputTest, FreeingNullDoesNothing) {
  allocator_.free(nullptr);
  allocator_.free(nullptr, 5, stream(7));
  EXPECT_TRUE(allocator_.try_free(nullptr));
  EXPECT_EQ(driver_.calls(), Calls{});
}

// A cached block would fit what such a size rounds to, were it looked for.
TEST_F(BadInputTest, WhatIsCachedServesNoRequestThatCannotBe) {
  allocator_.free(allocator_.allocate({1024}));
  EXPECT_EQ(allocator_.allocate({0}), nullptr);
  allocation_refused({1024, 0, nullptr, 3}, {"alignment"});
  for (const std::size_t size : {exbi, size_max - 511, size_max}) {
    Error why;
    EXPECT_EQ(allocator_.try_allocate({size}, &why), nullptr);
    EXPECT_EQ(why.code, ErrorCode::out_of_memory) << size;
  }
  EXPECT_EQ(allocator_.stats(0).allocation.all, (Stat{0, 1, 1, 1}));
}

TEST_F(BadInputTest, SizesAround32BitsAreNothingSpecial) {
  const std::vector<std::size_t> sizes{(1ull << 31) - 1, 1ull << 31, (1ull << 31) + 1,
                                       (1ull << 32) - 1, 1ull << 32, (1ull << 32) + 1};
  const std::int64_t gib = 1 << 30;
  const std::int64_t mib = 1 << 20;
  const std::vector<std::int64_t> segments{2 * gib, 2 * gib, 2 * gib + 2 * mib,
                                           4 * gib, 4 * gib, 4 * gib + 2 * mib};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    void* p = allocator_.allocate({sizes[i]});
    EXPECT_EQ(allocator_.stats(0).reserved_bytes.all.current, segments[i]) << sizes[i];
    EXPECT_EQ(allocator_.stats(0).requested_bytes.all.current, static_cast<std::int64_t>(sizes[i]));
    allocator_.free(p, sizes[i], nullptr);
    allocator_.empty_cache();
  }
}

TEST_F(BadInputTest, BelowOneExbibyteTheDriverIsAsked) {
  driver_.answer({oom, oom});
  Error why;
  EXPECT_EQ(allocator_.try_allocate({exbi - 1}, &why), nullptr);
  EXPECT_EQ(why.code, ErrorCode::out_of_memory);
  const std::string ask = "malloc 0 1073741824GiB";
  EXPECT_EQ(driver_.calls(), (Calls{ask, ask, "mem_info 0"}));
  EXPECT_EQ(allocator_.stats(0).num_ooms, 1);
}

TEST_F(BadInputTest, FromOneExbibyteItIsOutOfMemoryUnasked) {
  for (const std::size_t size : {exbi, exbi + 1, std::size_t{1} << 63, size_max - 511,
                                 size_max - 510, size_max - 1, size_max}) {
    const Request request{size, 1};
    refused<OutOfMemory>([&] { allocator_.allocate(request); },
                         [&](Error* why) { return allocator_.try_allocate(request, why); },
                         {std::to_string(size) + " bytes", "2^60"});
  }
  EXPECT_EQ(allocator_.stats(1).num_ooms, 0);  // As in PyTorch, which does not count these.
  EXPECT_EQ(driver_.calls(), Calls{});
}

// --- alignments and devices ---

TEST_F(BadInputTest, ACachedBlockServesOnlyWhereItIsAlignedAsAsked) {
  allocator_.allocate({512});
  allocator_.free(allocator_.allocate({512}));
  void* p = allocator_.allocate({512, 0, nullptr, 4096});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 4096, 0U);
}

TEST_F(BadInputTest, AlignmentsArePowersOfTwoUpTo2MiB) {
  for (const std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{513},
                                      std::size_t{4} << 20, std::size_t{1} << 63, size_max}) {
    allocation_refused({1024, 0, nullptr, alignment}, {std::to_string(alignment), "2 MiB"});
  }
  EXPECT_EQ(driver_.calls(), Calls{});
  for (const std::size_t alignment : {std::size_t{1}, std::size_t{2}, std::size_t{512},
                                      std::size_t{4096}, std::size_t{2} << 20}) {
    void* p = allocator_.allocate({1024, 0, nullptr, alignment});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % std::max<std::size_t>(512, alignment), 0U);
  }
}

TEST_F(BadInputTest, DevicesAreThoseOfTheDriver) {
  EXPECT_EQ(allocator_.device_count(), 2);
  for (const int device : {-1, 2, 1000, std::numeric_limits<int>::min()}) {
    allocation_refused({1024, device}, {"device " + std::to_string(device), "has 2"});
    EXPECT_THROW(static_cast<void>(allocator_.stats(device)), InvalidArgument);
    EXPECT_THROW(allocator_.reset_peak_stats(device), InvalidArgument);
    EXPECT_THROW(allocator_.reset_accumulated_stats(device), InvalidArgument);
    EXPECT_THROW(static_cast<void>(allocator_.block_map(device)), InvalidArgument);
  }
}

TEST_F(BadInputTest, EveryCallThatNamesADeviceNamesOneThatIsThere) {
  const std::vector<std::string> words{"no device 7: the driver has 2"};
  refused<InvalidArgument>(
      [&] { allocator_.forget_stream(7, stream(0x51)); },
      [&](Error* why) { return allocator_.try_forget_stream(7, stream(0x51), why); }, words);
  refused<InvalidArgument>([&] { allocator_.process_events(7); },
                           [&](Error* why) { return allocator_.try_process_events(7, why); },
                           words);
  const std::vector<std::function<void()>> without_twin{
      [&] { allocator_.set_memory_fraction(7, 0.5); },
      [&] { static_cast<void>(allocator_.memory_fraction(7)); },
      [&] { static_cast<void>(allocator_.stats(7)); },
      [&] { static_cast<void>(allocator_.block_map(7)); },
      [&] { allocator_.reset_peak_stats(7); },
      [&] { allocator_.reset_accumulated_stats(7); }};
  for (const auto& call : without_twin) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const InvalidArgument& exception) {
      EXPECT_NE(exception.error().message.find(words[0]), std::string::npos);
    }
  }
}

TEST_F(BadInputTest, OptionsThatAreRefusedAreNoFailureOfCuda) {
  Options options;
  options.max_split_size_bytes = 1;
  const std::vector<std::function<void()>> refusals{
      [&] { Allocator(driver_, options); },
      [&] { Allocator::from_settings(driver_, "nonsense:1"); }};
  for (const auto& call : refusals) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const InvalidArgument& exception) {
      EXPECT_EQ(exception.error().cuda_code, 0);
    }
  }
}

// --- pointers ---

TEST_F(BadInputTest, AForeignPointer) {
  allocator_.allocate({1024});
  int here = 0;
  free_refused(&here, {in_text(&here), "no memory of this allocator"});
  free_refused(pointer(1), {"0x1"});
  free_refused(pointer(size_max), {"0xffffffffffffffff"});
}

TEST_F(BadInputTest, APointerJustOutsideASegment) {
  allocator_.allocate({1024});
  free_refused(pointer(ScriptedDriver::segment(1).value - 512), {"no memory"});
  free_refused(pointer(ScriptedDriver::segment(1).value + (2 << 20)), {"no memory"});
}

TEST_F(BadInputTest, APointerInsideALiveBlock) {
  void* p = allocator_.allocate({2000, 1, stream(0xabc)});
  for (const std::ptrdiff_t offset : {1, 511, 512, 2047}) {
    free_refused(plus(p, offset),
                 {in_text(plus(p, offset)), in_text(p), std::to_string(offset) + " bytes inside",
                  "2048 bytes", "stream 0xabc", "device 1"});
  }
}

TEST_F(BadInputTest, APointerThatWasFreed) {
  void* p = allocator_.allocate({1000, 0, stream(0xabc)});
  void* other = allocator_.allocate({1000, 0, stream(0xabc)});
  allocator_.free(p);
  free_refused(p, {in_text(p), "freed before", "1024 bytes", "stream 0xabc", "device 0"});
  allocator_.free(other);  // Now it is in a larger free block.
  free_refused(other, {in_text(other), "block " + in_text(p)});
  allocator_.empty_cache();  // Now it is in no memory at all.
  free_refused(p, {in_text(p), "given back to the driver"});
}

TEST_F(BadInputTest, APointerOfTheOtherDeviceIsFreedThere) {
  void* theirs = allocator_.allocate({1024, 1});
  allocator_.free(allocator_.allocate({1024, 0}));
  allocator_.allocate({1024, 0});
  allocator_.free(theirs);
  EXPECT_EQ(allocator_.stats(1).allocation.all.current, 0);
  EXPECT_EQ(allocator_.stats(0).allocation.all.current, 1);
  free_refused(theirs, {"device 1"});
}

TEST_F(BadInputTest, AUseOfWhatIsNotLive) {
  void* p = allocator_.allocate({1000});
  for (void* bad : {plus(p, 8), pointer(64)}) {
    refused<InvalidArgument>([&] { allocator_.record_stream(bad, stream(0x51)); },
                             [&](Error* why) {
                               return allocator_.try_record_stream(bad, stream(0x51),
                                                                   Allocator::block_device, why);
                             },
                             {in_text(bad), "Not a live block"});
  }
}

// --- streams that go by the driver's ids ---

class BadInputByIdTest : public testing::Test {
 protected:
  static Options by_id() {
    Options options;
    options.stream_identity = StreamIdentity::id;
    return options;
  }
  std::string why_not_freed(void* p) {
    Error why;
    EXPECT_FALSE(allocator_.try_free(p, 1000, stream(0x51), &why));
    return why.message;
  }

  ScriptedDriver driver_{2};
  Allocator allocator_{driver_, by_id()};
};

TEST_F(BadInputByIdTest, TheirDeviceIsThatOfALiveBlock) {
  void* p = allocator_.allocate({1000, 1, stream(0x51)});
  driver_.calls();
  EXPECT_NE(why_not_freed(plus(p, 8)).find("8 bytes inside"), std::string::npos);
  EXPECT_NE(why_not_freed(pointer(64)).find("no memory of this allocator"), std::string::npos);
  EXPECT_EQ(driver_.calls(), Calls{});
  allocator_.free(p, 1000, stream(0x51));
  EXPECT_EQ(driver_.calls(), Calls{"stream_id 1 s0x51"});
}

TEST_F(BadInputByIdTest, OrTheOneThatIsNamed) {
  void* p = allocator_.allocate({1000, 0, stream(0x51)});
  driver_.calls();
  allocator_.record_stream(p, stream(0x52), 1);
  EXPECT_EQ(driver_.calls(), Calls{"stream_id 1 s0x52"});
}

TEST_F(BadInputByIdTest, FreeingNullAsksNothing) {
  allocator_.free(nullptr, 5, stream(7));
  EXPECT_EQ(driver_.calls(), Calls{});
}

// --- checked frees ---

TEST_F(BadInputTest, ACheckedFreeNamesTheRequestedSize) {
  void* p = allocator_.allocate({1000, 1});
  for (const std::size_t size : {std::size_t{0}, std::size_t{999}, std::size_t{1024}, size_max}) {
    checked_free_refused(p, size, nullptr,
                         {in_text(p), "device 1", std::to_string(size) + " bytes", "1000 bytes"});
  }
  allocator_.free(p, 1000, nullptr);
  EXPECT_EQ(allocator_.stats(1).allocation.all.current, 0);
}

TEST_F(BadInputTest, ACheckedFreeNamesTheBlocksStream) {
  void* p = allocator_.allocate({1000, 1, stream(0xabc)});
  checked_free_refused(p, 1000, stream(0xdef), {in_text(p), "stream 0xdef", "stream 0xabc"});
  checked_free_refused(p, 1000, nullptr, {"on the legacy default stream", "stream 0xabc"});
  EXPECT_TRUE(allocator_.try_free(p, 1000, stream(0xabc)));
}

TEST_F(BadInputTest, ACheckedFreeOfAReusedBlockKnowsItsNewSize) {
  void* p = allocator_.allocate({1000});
  allocator_.free(p);
  ASSERT_EQ(allocator_.allocate({900}), p);
  checked_free_refused(p, 1000, nullptr, {"900 bytes were requested"});
  allocator_.free(p, 900, nullptr);
}

TEST_F(BadInputTest, ACheckedFreeOfABadPointerIsToldOfThePointer) {
  void* p = allocator_.allocate({1000});
  checked_free_refused(plus(p, 8), 1000, nullptr, {"8 bytes inside"});
  checked_free_refused(pointer(64), 1000, nullptr, {"no memory of this allocator"});
}

}  // namespace
}  // namespace cairn
