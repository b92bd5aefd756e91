// Every Program under regressions/ holds, by name: what once went wrong, or differs from PyTorch by
// design, stays as it is written there. The tables of regressions/README.md name all of them, and
// mark those that cannot run yet.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "testing/parser.h"
#include "testing/world.h"

namespace {

using cairn::testing::Verdict;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> programs() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(CAIRN_REGRESSIONS)) {
    if (entry.path().extension() == ".program") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The last column of each row of the tables, and what is in it.
struct Tables {
  std::map<std::string, Verdict> programs;  // By name, what must come of it.
  std::vector<std::string> ids;             // Of bugs, in the order of the rows.
};

Tables tables() {
  static const std::regex bug(R"(^\| (B\d{3}) \| .+ \| .+ \| (.+) \|$)");
  static const std::regex named(R"(^\| .+ \| `(\w+)`(, not yet)? \|$)");
  Tables tables;
  std::ifstream file(std::filesystem::path(CAIRN_REGRESSIONS) / "README.md");
  for (std::string line; std::getline(file, line);) {
    std::smatch found;
    if (std::regex_match(line, found, bug)) tables.ids.push_back(found[1]);
    if (!std::regex_match(line, found, named)) continue;
    const Verdict verdict = found[2].matched ? Verdict::unsupported : Verdict::holds;
    const auto [row, is_new] = tables.programs.emplace(found[1], verdict);
    EXPECT_TRUE(is_new || row->second == verdict) << found[1] << " is marked in one row alone";
  }
  return tables;
}

class Regression : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Regression, Holds) {
  static const Tables expected = tables();
  const auto row = expected.programs.find(GetParam().stem().string());
  ASSERT_NE(row, expected.programs.end()) << "README.md does not name it";
  const auto program = cairn::testing::parse_program(text_of(GetParam()));
  ASSERT_TRUE(program) << "line " << program.error().line << ": " << program.error().message;
  const auto report = cairn::testing::run(*program);
  EXPECT_EQ(report.verdict, row->second)
      << "line " << report.line << ": " << report.statement << "\nexpected: " << report.expected
      << "\nfound: " << report.found << "\n"
      << report.why;
  if (row->second == Verdict::holds) {
    EXPECT_GT(report.steps, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Regression, testing::ValuesIn(programs()),
                         [](const auto& name) { return name.param.stem().string(); });

TEST(Regressions, EveryProgramThatATableNamesIsThere) {
  std::set<std::string> there;
  for (const auto& path : programs()) there.insert(path.stem().string());
  std::set<std::string> named;
  for (const auto& [name, verdict] : tables().programs) named.insert(name);
  EXPECT_EQ(named, there);
}

TEST(Regressions, EveryBugHasOneRow) {
  const std::vector<std::string> ids = tables().ids;
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
  // All odd numbers up to 173, and those of the seeded faults.
  for (int number = 1; number <= 173; number += 2) {
    const std::string digits = std::to_string(number);
    const std::string id = "B" + std::string(3 - digits.size(), '0') + digits;
    EXPECT_TRUE(std::binary_search(ids.begin(), ids.end(), id)) << id;
  }
}

// A fault that never came, or a setting that has no effect, is a Program that says less than it
// seems to. One Program is about just such a setting.
TEST(Regressions, OneProgramWarns) {
  std::vector<std::string> warn;
  for (const auto& path : programs()) {
    const auto program = cairn::testing::parse_program(text_of(path));
    ASSERT_TRUE(program) << path;
    const auto report = cairn::testing::run(*program);
    if (report.verdict == Verdict::holds && !report.notes.empty()) warn.push_back(path.stem());
  }
  EXPECT_EQ(warn, std::vector<std::string>{"b145_threshold_without_a_limit"});
}

}  // namespace
