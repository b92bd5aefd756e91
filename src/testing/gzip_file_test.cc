#include "testing/gzip_file.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace cairn::testing {
namespace {

const std::string story = "a cairn is a stack of stones that shows the way\n";

TEST(GzipFile, UnpacksWhatItPacked) {
  const auto packed = gzip(story);
  ASSERT_TRUE(packed);
  EXPECT_TRUE(is_gzip(*packed));
  const auto content = gunzip(*packed);
  ASSERT_TRUE(content);
  EXPECT_EQ(*content, story);
  EXPECT_EQ(*gunzip(*gzip("")), "");
}

TEST(GzipFile, UnpacksMembersThatFollowOneAnother) {
  EXPECT_EQ(*gunzip(*gzip(story) + *gzip(story)), story + story);
}

TEST(GzipFile, RefusesDataThatAreCutAnywhere) {
  const std::string packed = *gzip(story);
  for (std::size_t length = 0; length < packed.size(); ++length) {
    const auto content = gunzip(packed.substr(0, length));
    ASSERT_FALSE(content) << length;
    EXPECT_NE(content.error().find("the data end too early"), std::string::npos);
  }
}

TEST(GzipFile, RefusesDataThatAreDamagedOrFollowed) {
  std::string packed = *gzip(story);
  EXPECT_NE(gunzip(packed + "more").error().find("not gzip data follows"), std::string::npos);
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] + 1);  // In the checksum.
  EXPECT_NE(gunzip(packed).error().find("incorrect data check"), std::string::npos);
}

TEST(GzipFile, RefusesABombWithTheLimitInItsError) {
  const std::string bomb = *gzip(std::string(10'000'000, '\0'));
  EXPECT_LT(bomb.size(), 20'000U);
  const auto content = gunzip(bomb, Bytes{1'000'000});
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error(), "unpacked, it holds more than 1000000 bytes, the limit");
}

TEST(GzipFile, ReadsAndWritesFilesByNameAndByMagic) {
  const std::string path = ::testing::TempDir() + "gzip_file_test.gz";
  ASSERT_TRUE(write_content(path, story));
  EXPECT_EQ(*read_content(path), story);
  EXPECT_EQ(read_content(path, Bytes{8}).error(), "holds more than 8 bytes, the limit");
  std::remove(path.c_str());
  const auto gone = read_content(path);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error(), "cannot be opened: No such file or directory");
  EXPECT_FALSE(read_content(::testing::TempDir()));
}

}  // namespace
}  // namespace cairn::testing
