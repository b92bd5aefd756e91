// The regressions as seeds of the fuzz targets: each becomes a tape, and the tape's run holds.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "testing/op_encoder.h"
#include "testing/op_run.h"
#include "testing/parser.h"

namespace cairn::testing {
namespace {

Program regression(const std::string& name) {
  std::ifstream file(std::filesystem::path(CAIRN_REGRESSIONS) / (name + ".program"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto program = parse_program(text);
  EXPECT_TRUE(program && !program->statements.empty()) << name;
  return program ? std::move(*program) : Program{};
}

TEST(RegressionSeeds, AllBecomeTapesThatHold) {
  for (const auto& entry : std::filesystem::directory_iterator(CAIRN_REGRESSIONS)) {
    if (entry.path().extension() != ".program") continue;
    const Encoded encoded = encode(regression(entry.path().stem()));
    const OpRun run = run_tape(encoded.tape);
    EXPECT_TRUE(run.holds()) << entry.path() << "\n" << in_words(run);
  }
}

TEST(RegressionSeeds, SayAllWhereNothingIsBeyondAnOperation) {
  for (const std::string name :
       {"b005_merged_block_waits_for_all_streams", "b006_remainder_keeps_the_stream",
        "b091_deferred_free_serves_the_next_request", "search_after_release",
        "default_stream_of_another_device", "recycled_handle_announced"})
    EXPECT_EQ(encode(regression(name)).left_out, 0U) << name;
}

}  // namespace
}  // namespace cairn::testing
