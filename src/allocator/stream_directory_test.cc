#include "allocator/stream_directory.h"

#include <gtest/gtest.h>

#include <optional>

#include "allocator/scripted_driver.h"

namespace cairn {
namespace {

Options by_id() {
  Options options;
  options.stream_identity = StreamIdentity::id;
  return options;
}

constexpr StreamRef stream{0, 0x51};
constexpr StreamId first{100};
constexpr StreamId second{200};

class StreamDirectoryById : public testing::Test {
 protected:
  StreamId identify() {
    const auto id = directory_.identify(stream);
    EXPECT_TRUE(id);
    return id ? *id : StreamId{};
  }
  std::optional<StreamRef> direct(StreamId id) {
    const auto direct = directory_.direct({0, id});
    EXPECT_TRUE(direct);
    return direct ? *direct : std::nullopt;
  }

  ScriptedDriver driver_;
  StreamDirectory directory_{driver_, by_id()};
};

TEST_F(StreamDirectoryById, AHandleIsTheStreamThatHadItLast) {
  driver_.set_id(stream.handle, first.value);
  EXPECT_EQ(identify(), first);
  EXPECT_EQ(identify(), first);
  EXPECT_EQ(direct(first), stream);
  driver_.set_id(stream.handle, second.value);
  EXPECT_EQ(identify(), second);
  EXPECT_EQ(directory_.last_known(stream), second);
  EXPECT_EQ(direct(second), stream);
  driver_.calls();
  EXPECT_EQ(direct(first), std::nullopt);
  EXPECT_EQ(driver_.calls(), Calls{});  // It is known to be gone.
}

TEST_F(StreamDirectoryById, AForgottenStreamIsNotKnownByItsIdEither) {
  driver_.set_id(stream.handle, first.value);
  identify();
  directory_.forget(stream);
  driver_.calls();
  EXPECT_EQ(directory_.last_known(stream), std::nullopt);
  EXPECT_EQ(direct(first), std::nullopt);
  EXPECT_EQ(driver_.calls(), Calls{});
}

TEST(StreamHandles, AreDefaultStreamsOrMadeOrNone) {
  ScriptedDriver driver;
  const StreamDirectory by_handle(driver, {});
  const StreamDirectory asked(driver, by_id());
  for (const std::uint64_t handle : {std::uint64_t{0}, legacy_stream_handle}) {
    EXPECT_TRUE(by_handle.is_plain({0, handle})) << handle;
    EXPECT_TRUE(asked.is_plain({0, handle})) << handle;
    EXPECT_EQ(StreamDirectory::plain({0, handle}), legacy_default_stream) << handle;
  }
  for (const std::uint64_t handle : {per_thread_stream_handle, first_special_stream}) {
    EXPECT_FALSE(by_handle.is_plain({0, handle})) << handle;
    EXPECT_FALSE(asked.asks_driver({0, handle})) << handle;
  }
  for (const std::uint64_t handle : {per_thread_stream_handle + 1, first_special_stream - 1}) {
    EXPECT_TRUE(by_handle.is_plain({0, handle})) << handle;
    EXPECT_FALSE(asked.is_plain({0, handle})) << handle;
    EXPECT_TRUE(asked.asks_driver({0, handle})) << handle;
    EXPECT_EQ(StreamDirectory::plain({0, handle}), StreamId{handle});
  }
}

}  // namespace
}  // namespace cairn
