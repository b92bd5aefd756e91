#include "allocator/error_text.h"

#include <gtest/gtest.h>

#include <string>

#include "allocator/device_in_test.h"
#include "base/in_words.h"

namespace cairn {
namespace {

using namespace literals;

TEST(ErrorText, SizesAreInTheLargestUnitThatIsNotAboveThem) {
  EXPECT_EQ(in_words(1_B), "1 bytes");
  EXPECT_EQ(in_words(1_KiB - 1_B), "1023 bytes");
  EXPECT_EQ(in_words(1_KiB), "1.00 KiB");
  EXPECT_EQ(in_words(1_KiB + 512_B), "1.50 KiB");
  EXPECT_EQ(in_words(1_MiB - 512_B), "1023.50 KiB");
  EXPECT_EQ(in_words(1_MiB), "1.00 MiB");
  EXPECT_EQ(in_words(3_MiB + 256_KiB), "3.25 MiB");
  EXPECT_EQ(in_words(1_GiB - 512_KiB), "1023.50 MiB");
  EXPECT_EQ(in_words(1_GiB), "1.00 GiB");
  EXPECT_EQ(in_words(2_GiB + 512_MiB), "2.50 GiB");
}

TEST(ErrorText, StreamsAreSaidByWhatTheyAre) {
  EXPECT_EQ(stream_in_words(legacy_default_stream), "the legacy default stream");
  EXPECT_EQ(stream_in_words(retired_stream(3)), "a stream that was forgotten");
  EXPECT_EQ(stream_in_words(per_thread_stream(7)), "the per-thread default stream of a thread");
  EXPECT_EQ(stream_in_words({per_thread_stream_handle}), "the per-thread default streams");
  EXPECT_EQ(stream_in_words(s1), "stream 0x51");
}

TEST(ErrorText, AnEventIsSaidWithTheBlockThatWaitsForIt) {
  EXPECT_EQ(event_in_words({EventHandle{0x70}, nullptr, nullptr}), "event 0x70");
  Block block;
  block.ptr = {0x2000};
  block.size = 1_KiB;
  EXPECT_EQ(event_in_words({EventHandle{0x70}, nullptr, &block}),
            "event 0x70, for which the freed block 0x2000 of 1024 bytes waits,");
}

TEST(ErrorText, WhatIsNoFailureOfCudaHasNoCode) {
  for (const Error& error :
       {unsupported_setting("s"), unchangeable_setting("s"), bad_fraction(2), bad_alignment(3_B),
        no_such_device(1, 1), misaligned_segment(0, {}, 1_MiB), foreign_pointer({})}) {
    EXPECT_EQ(error.cuda_code, 0) << error.message;
  }
}

// Of the blocks of a segment, the one in which the pointer lies.
TEST(ErrorText, WhatIsNotLiveIsNamedByItsBlock) {
  DeviceInTest device;
  device.allocate(1_KiB);
  const Address second = device.allocate(2_KiB);
  const Address third = device.allocate(1_KiB);
  const auto words_of = [&](Address pointer) { return error_of(device.try_free(pointer)).message; };
  EXPECT_NE(
      words_of(second + 8_B)
          .find("it lies 8 bytes inside the live block " + in_words(second) + " of 2048 bytes"),
      std::string::npos)
      << words_of(second + 8_B);
  device.free(second);
  EXPECT_NE(words_of(second).find("in the free block " + in_words(second)), std::string::npos)
      << words_of(second);
  EXPECT_NE(words_of(third + 512_B).find(in_words(third) + " of 1024 bytes"), std::string::npos)
      << words_of(third + 512_B);
}

}  // namespace
}  // namespace cairn
