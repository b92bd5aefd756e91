// A capture that one thread begins, and a free of another that may wait for no work then.
#include "preload/captures.h"

#include <atomic>
#include <thread>

#include "preload/test/preload_in_test.h"
#include "preload/test/stub.h"

namespace cairn::preload {
namespace {

void* to_be_freed = nullptr;

TEST(PreloadCaptures, AFreeOfAnotherThreadIsPostponedFromTheBeginningOfACapture) {
  cudaStream_t const captured = new_stream();
  cudaStream_t const other = new_stream();
  to_be_freed = malloc_of(mebibyte);
  use_long(other, to_be_freed, mebibyte);
  cairn_stub_on_begin_capture(
      [] { std::thread([] { EXPECT_EQ(cudaFree(to_be_freed), cudaSuccess); }).join(); });
  ASSERT_EQ(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_FALSE(is_idle(other)) << "the free has waited while a stream is captured";
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(captured, &graph), cudaSuccess);
  EXPECT_EQ(malloc_of(mebibyte), to_be_freed);
}

TEST(PreloadCaptures, NoneBeginsWhileAFreeWaits) {
  Captures captures;
  std::atomic<bool> waits = true;
  auto none = captures.none();
  ASSERT_TRUE(none);
  std::thread beginner([&] {
    captures.begin(nullptr, [&] {
      EXPECT_FALSE(waits);
      return cudaErrorUnknown;
    });
  });
  for (int turn = 0; turn < 1000000 && captures.none(); ++turn) {  // Until it is announced.
    std::this_thread::yield();
  }
  for (int turn = 0; turn < 1000; ++turn) std::this_thread::yield();
  waits = false;
  none.unlock();
  beginner.join();
  EXPECT_TRUE(captures.none()) << "it has not begun";
}

TEST(PreloadCaptures, ThereIsOneFromItsBeginningToItsEnd) {
  Captures captures;
  cudaStream_t const stream = new_stream();
  captures.begin(stream, [&] { return cudaStreamBeginCapture(stream, {}); });
  EXPECT_TRUE(captures.any());
  EXPECT_FALSE(captures.none());
  cudaGraph_t graph = nullptr;
  captures.ended(stream, cudaStreamEndCapture(stream, &graph));
  EXPECT_FALSE(captures.any());
  EXPECT_TRUE(captures.none());
}

}  // namespace
}  // namespace cairn::preload
