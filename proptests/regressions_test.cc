// Every Program under regressions/ holds, by name: what once went wrong, or differs from PyTorch by
// design, stays as it is written there.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "testing/parser.h"
#include "testing/world.h"

namespace {

std::vector<std::filesystem::path> programs() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(CAIRN_REGRESSIONS)) {
    if (entry.path().extension() == ".program") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

class Regression : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Regression, Holds) {
  std::ifstream file(GetParam());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto program = cairn::testing::parse_program(text);
  ASSERT_TRUE(program) << "line " << program.error().line << ": " << program.error().message;
  const auto report = cairn::testing::run(*program);
  EXPECT_EQ(report.verdict, cairn::testing::Verdict::holds)
      << "line " << report.line << ": " << report.statement << "\nexpected: " << report.expected
      << "\nfound: " << report.found << "\n"
      << report.why;
  EXPECT_GT(report.steps, 0u);
}

INSTANTIATE_TEST_SUITE_P(Programs, Regression, testing::ValuesIn(programs()),
                         [](const auto& name) { return name.param.stem().string(); });

}  // namespace
