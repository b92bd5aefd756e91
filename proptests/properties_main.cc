// Runs the properties; says at the end which operations they executed and which invariants nobody
// evaluated. The seed is always said, before and after; RC_PARAMS="seed=..." gives the
// same cases again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "invariants/catalogue/evaluations.h"
#include "property.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const bool asks_for_help = std::any_of(argv + 1, argv + argc, [](const std::string_view word) {
    return word == "--help" || word == "-h" || word == "-?" || word == "/?";
  });
  if (asks_for_help) return RUN_ALL_TESTS();  // It has told its flags, and runs nothing.
  if (argc > 1) {
    std::fprintf(stderr, "properties: no such option: %s; --help says which there are\n", argv[1]);
    return 2;
  }
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  const char* set = std::getenv("RC_PARAMS");  // NOLINT(concurrency-mt-unsafe)
  const std::string given = set == nullptr ? "" : set;
  if (const auto refusal = cairn::testing::refusal_of(given)) {
    std::fprintf(stderr, "%s\n", refusal->c_str());
    return 1;
  }
  const std::string parameters = cairn::testing::with_seed(given);
  setenv("RC_PARAMS", parameters.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  std::fprintf(stderr, "RC_PARAMS=\"%s\"\n", parameters.c_str());
  cairn::invariants::print_evaluations_at_exit_if_wanted();
  const int failed = RUN_ALL_TESTS();
  const auto& executed = cairn::testing::executed_operations();
  if (executed.total() != 0) std::fprintf(stderr, "%s", in_words(executed).c_str());
  std::fputs(cairn::invariants::never_evaluated_in_words().c_str(), stderr);
  std::fprintf(stderr, "RC_PARAMS=\"%s\"\n", parameters.c_str());
  return failed;
}
