#include "tool/whole_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace cairn::tool {
namespace {

namespace fs = std::filesystem;

class WholeFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  // What both say of the path, which is the same.
  static std::string refusal(const std::string& path) {
    const auto can = can_replace_file(path);
    const auto done = replace_file(path, "new");
    EXPECT_FALSE(can);
    EXPECT_FALSE(done);
    if (can || done) return {};
    EXPECT_EQ(can.error(), done.error());
    return can.error();
  }
  std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

 private:
  fs::path folder_ =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(WholeFile, IsMadeAndThenReplacedAndLeavesNothingBeside) {
  const std::string file = path("page");
  EXPECT_TRUE(can_replace_file(file));
  EXPECT_FALSE(fs::exists(file));
  EXPECT_TRUE(replace_file(file, "old"));
  EXPECT_TRUE(can_replace_file(file));
  EXPECT_EQ(content(file), "old");
  EXPECT_TRUE(replace_file(file, "new"));
  EXPECT_EQ(content(file), "new");
  EXPECT_EQ(entries(), 1);
}

TEST_F(WholeFile, ALinkStaysAndWhatItNamesIsReplaced) {
  EXPECT_TRUE(replace_file(path("page"), "old"));
  fs::create_symlink("page", path("link"));
  EXPECT_TRUE(replace_file(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("page")), "new");
}

TEST_F(WholeFile, TheReasonIsTheSystemsOwn) {
  const std::string nowhere = path("no/page");
  EXPECT_EQ(refusal(nowhere), nowhere + ": cannot be written: No such file or directory");
  const std::string long_name = path(std::string(300, 'x'));
  EXPECT_EQ(refusal(long_name), long_name + ": cannot be written: File name too long");
  EXPECT_TRUE(replace_file(path("file"), "old"));
  const std::string below_a_file = path("file/page");
  EXPECT_EQ(refusal(below_a_file), below_a_file + ": cannot be written: Not a directory");
  EXPECT_EQ(content(path("file")), "old");
  EXPECT_EQ(entries(), 1);
}

TEST_F(WholeFile, AFolderIsLeftAsItIs) {
  const std::string folder = path("folder");
  fs::create_directory(folder);
  const auto can = can_replace_file(folder);
  ASSERT_FALSE(can);
  EXPECT_EQ(can.error(), folder + ": cannot be written: it is a folder");
  const auto done = replace_file(folder, "new");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), folder + ": cannot be written: Is a directory");
  EXPECT_TRUE(fs::is_directory(folder));
  EXPECT_EQ(entries(), 1);
}

}  // namespace
}  // namespace cairn::tool
