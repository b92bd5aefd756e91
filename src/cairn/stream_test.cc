#include "cairn/stream.h"

#include <gtest/gtest.h>

#include "cairn/allocator.h"

namespace cairn {

// As a file sees it that is compiled for per-thread default streams (stream_per_thread_test.cc).
Stream null_per_thread();
Stream default_of_request_per_thread();
Stream other_per_thread(Stream stream);

namespace {

TEST(StreamArgument, NullIsTheLegacyStream) {
  EXPECT_EQ(Stream(StreamArgument(nullptr)), nullptr);
  EXPECT_EQ(Stream(Request{}.stream), nullptr);
}

TEST(StreamArgument, NullIsTheThreadsOwnWhereAFileIsCompiledSo) {
  EXPECT_EQ(null_per_thread(), reinterpret_cast<Stream>(2));
  EXPECT_EQ(default_of_request_per_thread(), reinterpret_cast<Stream>(2));
}

TEST(StreamArgument, OtherStreamsStayWhatTheyAre) {
  for (const auto handle : {1, 2, 0x5000}) {
    const auto stream = reinterpret_cast<Stream>(static_cast<std::uintptr_t>(handle));
    EXPECT_EQ(Stream(StreamArgument(stream)), stream);
    EXPECT_EQ(other_per_thread(stream), stream);
  }
}

}  // namespace
}  // namespace cairn
