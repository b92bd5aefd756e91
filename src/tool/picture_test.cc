#include "tool/picture.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "testing/parser.h"
#include "tool/replay_machine.h"

namespace cairn::tool {
namespace {

std::string page_of(const std::string& text, const std::string& figures = "{}") {
  const auto plan = plan_replay(*cairn::testing::parse_program(text));
  EXPECT_TRUE(plan);
  const auto recording = record(*plan);
  EXPECT_TRUE(recording);
  return picture_page(*plan, *recording, figures);
}

// What stands in the page's <script> of that id.
std::string data(const std::string& page, const std::string& id) {
  const std::string mark = "\" id=\"" + id + "\">";
  const std::size_t begin = page.find(mark) + mark.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(Picture, HoldsTheRun) {
  const std::string page = page_of("alloc a 1MiB\nfree a\nalloc b 3MiB s1\n");
  const auto run = nlohmann::json::parse(data(page, "run"));
  EXPECT_EQ(run["moments"], 4);
  EXPECT_EQ(run["changes"], 3);
  EXPECT_EQ(run["blocks"], 5);
  EXPECT_EQ(run["names"], (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(run["streams"][1]["name"], "s1");
  EXPECT_EQ(run["checks"].size(), 4U);
  EXPECT_EQ(count(page, "<!-- "), 0U) << "a place for data that was not filled";
}

// The format, number by number; picture_run.js reads it.
TEST(Picture, ItsLogIsWholeNumbersToBase36) {
  const std::string page = page_of("alloc a 1000\nfree a\n");
  EXPECT_EQ(data(page, "log"),
            // The start: no address, no bytes, no calls, no changes.
            "0 0 0 0 0 0 0 0 "
            // alloc, line 1, 1000 bytes, stream 0, device 0, slot 0; its address.
            "0 1 rs 0 0 0 68hqlcqv4 "
            // 2 MiB reserved, 1024 active and allocated, 1000 requested, 2096128 in one free block.
            "18y68 sg sg rs 18xds "
            // One call, malloc; one change: a segment is added at that address ...
            "1 0 1 0 0 18y68 0 0 0 "
            // ... of two blocks: 1024 allocated with 24 unused, and the free rest.
            "2 sg 0 o 18xds 2 "
            // free, the next line, the same slot and address.
            "1 1 0 0 "
            "0 -sg -sg -rs sg "
            // No call; one change: from that address there is one block, free.
            "0 1 2 0 1 18y68 2 ");
}

TEST(Picture, ItsLogHasEachKindOfOperation) {
  const std::string log = data(page_of("next_segment 0x7f0000000000\n"
                                       "alloc a 1000\nuse a s1\nfree a\nsync\nempty_cache\n"
                                       "alloc b 512GiB -> out_of_memory\n"),
                               "log");
  EXPECT_EQ(log.find("0 0 0 0 0 0 0 0 4 1 0 "), 0U) << log;      // next_segment, line 1, no slot.
  EXPECT_NE(log.find(" 2 1 1 0 0 "), std::string::npos) << log;  // use: stream 1, device 0, slot 0.
  EXPECT_NE(log.find(" 3 2 "), std::string::npos) << log;        // empty_cache, two lines on.
  EXPECT_NE(log.find(" 5 1 70jyf0u8 0 0 1 "), std::string::npos) << log;  // 512 GiB, slot 1.
}

TEST(Picture, NoNameEndsAScript) {
  const std::string name = "x</script><script>alert(1)</script><!-- log -->.program";
  const std::string page = page_of("alloc a 1\n", nlohmann::json{{"file", name}}.dump());
  EXPECT_EQ(count(page, name), 0U);
  EXPECT_EQ(count(page, "</script>"), count(picture_template, "</script>"));
  EXPECT_EQ(nlohmann::json::parse(data(page, "figures"))["file"], name);
  EXPECT_EQ(data(page, "log").substr(0, 4), "0 0 ");
}

TEST(Picture, NeedsNothingElse) {
  const std::string page = page_of("alloc a 1\n");
  for (const char* outside : {"http:", "https:", "src=", "@import", "url(", "fetch(", "import("}) {
    EXPECT_EQ(count(page, outside), 0U) << outside;
  }
  EXPECT_EQ(count(page, "default-src 'none'"), 1U);
}

}  // namespace
}  // namespace cairn::tool
