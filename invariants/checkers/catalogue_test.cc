// The catalogue as a whole: its ids, its saboteurs, and its place in README.md.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "invariants/catalogue/catalogue.h"

namespace cairn::invariants {
namespace {

// The ids that suite Saboteur breaks: of its tests "S1_AGapBetweenBlocks" and the like.
std::set<std::string> sabotaged_ids() {
  std::set<std::string> ids;
  const testing::UnitTest& all_tests = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all_tests.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *all_tests.GetTestSuite(s);
    if (std::strcmp(suite.name(), "Saboteur") != 0) continue;
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const std::string name = suite.GetTestInfo(t)->name();
      ids.insert(name.substr(0, name.find('_')));
    }
  }
  return ids;
}

std::set<std::string> promised_ids() {
  std::set<std::string> ids;
  for (const Invariant& invariant : all) ids.insert(invariant.id);
  return ids;
}

const char* name_of(Cost cost) {
  switch (cost) {
    case Cost::constant:
      return "constant";
    case Cost::structure:
      return "structure";
    case Cost::heap:
      return "heap";
  }
  return "none";
}

// The rows of README.md's tables that begin with an id, and the cost in each: "| S1 | heap | ...".
std::map<std::string, std::string> costs_in_readme() {
  std::ifstream readme(CAIRN_INVARIANTS_README);
  const std::regex row(R"(^\| ([A-Z][0-9]+) \| (\w+) \| .*)");
  std::map<std::string, std::string> costs;
  std::string line;
  while (std::getline(readme, line)) {
    std::smatch parts;
    if (std::regex_match(line, parts, row)) costs[parts[1]] = parts[2];
  }
  return costs;
}

TEST(Catalogue, HasASaboteurForEachEntryAndNoOther) { EXPECT_EQ(sabotaged_ids(), promised_ids()); }

TEST(Catalogue, NamesEachEntryOnce) { EXPECT_EQ(promised_ids().size(), all.size()); }

TEST(Catalogue, NamesEntriesByALetterAndANumber) {
  const std::regex form("[BSPHULEGMDT][1-9][0-9]*");
  for (const Invariant& invariant : all) EXPECT_TRUE(std::regex_match(invariant.id, form));
}

TEST(Catalogue, SaysEachPromiseInASentenceAndGivesItACost) {
  for (const Invariant& invariant : all) {
    EXPECT_STRNE(name_of(invariant.cost), "none") << invariant.id;
    const std::string words = invariant.words;
    ASSERT_FALSE(words.empty()) << invariant.id;
    EXPECT_EQ(words.back(), '.') << invariant.id;
  }
}

TEST(Catalogue, StandsInTheReadmeWithItsCosts) {
  std::map<std::string, std::string> costs;
  for (const Invariant& invariant : all) costs[invariant.id] = name_of(invariant.cost);
  EXPECT_EQ(costs_in_readme(), costs);
}

}  // namespace
}  // namespace cairn::invariants
