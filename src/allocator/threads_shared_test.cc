// What all devices share, used by several threads at once. Made to be run under ThreadSanitizer as
// well.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "allocator/all_devices.h"
#include "allocator/callbacks.h"
#include "allocator/scripted_driver.h"
#include "allocator/stream_directory.h"

namespace cairn {
namespace {

void on_four_threads(const std::function<void(std::uint64_t thread)>& act) {
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) threads.emplace_back([&act, t] { act(t); });
  for (std::thread& thread : threads) thread.join();
}

TEST(ThreadsShared, CallbacksComeAndGoWhileOthersAreAsked) {
  Callbacks callbacks;
  on_four_threads([&](std::uint64_t) {
    for (int round = 0; round < 200; ++round) {
      const CallbackId first = callbacks.add([](int) { return true; });
      const CallbackId second = callbacks.add([](const Error&) {});
      std::string complaints;
      EXPECT_TRUE(callbacks.can_free_memory());
      EXPECT_TRUE(callbacks.free_memory(0, complaints));
      Error error;
      callbacks.tell(error);
      callbacks.remove(first);
      callbacks.remove(second);
      EXPECT_EQ(complaints + error.message, "");
    }
  });
  EXPECT_FALSE(callbacks.can_free_memory());
}

// Each thread has streams of its own, so that it knows what it must find.
TEST(ThreadsShared, TheDirectoryKnowsTheStreamsOfAll) {
  Options by_id;
  by_id.stream_identity = StreamIdentity::id;
  ScriptedDriver driver;
  StreamDirectory directory(driver, by_id);
  on_four_threads([&](std::uint64_t thread) {
    for (std::uint64_t round = 0; round < 200; ++round) {
      const StreamRef stream{0, 0x100 * (thread + 1) + round % 8};
      const auto id = directory.identify(stream);
      ASSERT_TRUE(id);
      EXPECT_EQ(directory.last_known(stream), *id);
      const auto direct = directory.direct({0, *id});
      EXPECT_TRUE(direct && *direct == stream);
      directory.forget(stream);
      EXPECT_EQ(directory.last_known(stream), std::nullopt);
    }
  });
}

TEST(ThreadsShared, AStreamIsAskedForAndForgottenByAll) {
  Options by_id;
  by_id.stream_identity = StreamIdentity::id;
  ScriptedDriver driver;
  StreamDirectory directory(driver, by_id);
  const StreamRef stream{0, 0x100};
  on_four_threads([&](std::uint64_t) {
    for (std::uint64_t round = 0; round < 200; ++round) {
      const auto id = directory.identify(stream);
      ASSERT_TRUE(id);
      const auto known = directory.last_known(stream);
      EXPECT_TRUE(!known || *known == *id);
      const auto direct = directory.direct({0, *id});
      EXPECT_TRUE(direct && (!*direct || *direct == stream));
      directory.forget(stream);
    }
  });
}

TEST(ThreadsShared, SettingsChangeOneAfterTheOther) {
  ScriptedDriver driver;
  AllDevices devices(driver, {});
  on_four_threads([&](std::uint64_t thread) {
    const std::string size = std::to_string(100 + thread);
    for (int round = 0; round < 50; ++round) {
      EXPECT_TRUE(devices.reconfigure("max_split_size_mb:" + size));
      EXPECT_TRUE(devices.reconfigure("roundup_power2_divisions:4"));
    }
  });
}

}  // namespace
}  // namespace cairn
