#include "testing/op_run.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "testing/op_draws.h"
#include "testing/printer.h"

namespace cairn::testing {
namespace {

Op op_of(OpKind kind) {
  Op op;
  op.kind = kind;
  return op;
}

// Dislikes each statement of one kind.
class Critic : public Observer {
 public:
  std::optional<Difference> after(const Statement& statement, const StepResult&,
                                  const World&) override {
    if (!std::holds_alternative<EmptyCache>(statement.operation)) return std::nullopt;
    return Difference{"no emptying", "emptied"};
  }
};

TEST(OpRun, of_no_operation_is_the_declarations) {
  const OpRun run = run_tape(Tape{});
  EXPECT_TRUE(run.holds()) << in_words(run);
  EXPECT_EQ(run.statements, 0U);
  EXPECT_EQ(run.histogram.total(), 0U);
  EXPECT_EQ(print_program(run.program),
            "gpu 0 memory=16MiB\nstream s1 gpu=0\nstream s2 gpu=0\nstream s3 gpu=0\n");
}

TEST(OpRun, counts_what_was_executed) {
  Tape tape;
  Op too_large = op_of(OpKind::alloc);
  too_large.amount = size_code(Bytes{std::uint64_t{1} << 40});
  tape.ops = {op_of(OpKind::alloc), too_large, op_of(OpKind::free), op_of(OpKind::thread_exit)};
  const OpRun run = run_tape(tape);
  EXPECT_TRUE(run.holds()) << in_words(run);
  EXPECT_EQ(run.statements, 3U);
  EXPECT_EQ(run.failed, 1U);
  EXPECT_EQ(run.histogram.executed[static_cast<std::size_t>(OpKind::alloc)], 2U);
  EXPECT_EQ(run.histogram.executed[static_cast<std::size_t>(OpKind::free)], 1U);
  EXPECT_EQ(run.histogram.total(), 4U);
  EXPECT_EQ(run.histogram.total_without_effect(), 1U) << "there is but one thread";
  EXPECT_EQ(run.succeeded.at(Operation(Alloc{}).index()), 1U);
}

TEST(OpRun, writes_failures_down_as_expected) {
  Tape tape;
  Op too_large = op_of(OpKind::alloc);
  too_large.amount = size_code(Bytes{std::uint64_t{1} << 40});
  tape.ops = {too_large};
  const OpRun run = run_tape(tape);
  EXPECT_EQ(print_statement(run.program.statements.back()), "alloc a0 1024GiB s1 -> out_of_memory");
  EXPECT_EQ(cairn::testing::run(run.program).verdict, Verdict::holds);
}

TEST(OpRun, ends_at_what_an_observer_finds_and_says_it) {
  Tape tape;
  tape.ops = {op_of(OpKind::alloc), op_of(OpKind::empty_cache), op_of(OpKind::free)};
  WorldOptions options;
  options.make_observer = [] { return std::make_unique<Critic>(); };
  const OpRun run = run_tape(tape, options);
  EXPECT_FALSE(run.holds());
  EXPECT_FALSE(run.mistake);
  EXPECT_EQ(run.result.expected, "no emptying");
  EXPECT_EQ(run.histogram.total(), 2U);
  const std::string words = in_words(run);
  EXPECT_NE(words.find("expected: no emptying\nfound: emptied\n"), std::string::npos) << words;
  EXPECT_NE(words.find("program:\ngpu 0 "), std::string::npos) << words;
  EXPECT_TRUE(words.ends_with("alloc a0 1 s1\nempty_cache\n")) << words;
}

TEST(OpRun, of_a_seed_is_that_of_its_tape) {
  const OpRun run = run_seed(5, 100);
  EXPECT_EQ(run.program, run_tape(draw_tape(5, 100)).program);
  EXPECT_EQ(run.histogram.total(), 100U);
}

TEST(Histogram, has_the_most_frequent_kind_first) {
  Histogram few;
  few.executed[static_cast<std::size_t>(OpKind::poll)] = 30;
  few.without_effect[static_cast<std::size_t>(OpKind::poll)] = 2;
  few.executed[static_cast<std::size_t>(OpKind::alloc)] = 10;
  Histogram sum;
  sum += few;
  sum += few;
  EXPECT_EQ(sum.total(), 80U);
  EXPECT_EQ(sum.total_without_effect(), 4U);
  const std::string words = in_words(sum);
  EXPECT_TRUE(
      words.starts_with("operation            executed        %  without effect\n"
                        "poll                       60    75.00               4\n"
                        "alloc                      20    25.00               0\n"))
      << words;
}

}  // namespace
}  // namespace cairn::testing
