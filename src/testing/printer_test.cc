#include "testing/printer.h"

#include <gtest/gtest.h>

#include "testing/parser.h"

namespace cairn::testing {
namespace {

TEST(Printer, EveryStatementIsPrintedAsItIsWritten) {
  const char* lines[] = {
      "gpu 0 memory=80GiB adjacent reuse_addresses",
      "gpu 1 memory=1536KiB",
      "conf max_split_size_mb:128, a b",
      "segment 0x7e0000000000 20MiB large s0 gpu=1",
      "block w1 4MiB",
      "block - 16MiB",
      "fault malloc at=3 error=out_of_memory",
      "fault event_query at=1 error=not_supported count=forever sticky",
      "fault export at=1 error=unknown count=2",
      "next_segment 0x7e0040000000",
      "device 1",
      "stream s1 gpu=1 blocking reuse=s9",
      "destroy_stream s1",
      "destroy_stream s1 unannounced",
      "alloc a 1537",
      "T1: alloc a 1536KiB s1 align=4KiB = 0x7e0000400000",
      "alloc_at c 2MiB s1 0x7e0000400000 -> out_of_memory",
      "free a",
      "free a+4KiB on s2 size=1023 stream=s0 -> invalid_argument",
      "free 0x1234",
      "free null",
      "use a s2",
      "launch s1 a,b:r 10",
      "order s1 ptds",
      "advance 18446744073709551615",
      "sync",
      "sync s1 gpu=1",
      "poll",
      "empty_cache",
      "empty_cache P",
      "memory_fraction 0.1",
      "memory_fraction -1e-07 gpu=1",
      "reconfigure garbage_collection_threshold:0.8",
      "pool P no_split use_on_oom source",
      "enter P",
      "leave P",
      "release P",
      "capture_begin G s1 pool=P mode=thread_local",
      "capture_end G",
      "replay G s1",
      "destroy_graph G",
      "checkpoint C P",
      "restore C",
      "peer 0 1",
      "share a H",
      "open H b",
      "close b",
      "T1: exit",
      "schedule 0 1 1 0",
      "reset calls",
      "reset peak",
      "reset accumulated",
      "expect - 5 + reserved(P)@1 != 0x10 - requested",
      "expect peak_blocks(inactive_split,P) < oom(tried)",
      "expect stream(a) == s1",
      "expect_segment 0x7e0000000000 1GiB small s0 gpu=1",
      "expect_block 1GiB active_pending_free requested=5",
      "during malloc at=1 {\n  poll\n  T1: free a\n}",
      "parallel {\n}",
  };
  std::string text;
  for (const char* line : lines) text.append(line).append("\n");
  const auto program = parse_program(text);
  ASSERT_FALSE(program.failed()) << program.error().line << ": " << program.error().message;
  ASSERT_EQ(program->statements.size(), std::size(lines));
  for (std::size_t i = 0; i < std::size(lines); ++i)
    EXPECT_EQ(print_statement(program->statements[i]), lines[i]);
  EXPECT_EQ(print_program(*program), text);
}

TEST(Printer, EveryKindOfCaptureModeAndComparisonIsSpelled) {
  for (const char* mode : {"global", "thread_local", "relaxed"}) {
    const std::string text = std::string("capture_begin G s1 mode=") + mode + "\n";
    EXPECT_EQ(print_program(*parse_program(text)), text);
  }
  for (const char* comparison : {"==", "!=", "<", "<=", ">", ">="}) {
    const std::string text = std::string("expect 1 ") + comparison + " 2\n";
    EXPECT_EQ(print_program(*parse_program(text)), text);
  }
}

TEST(Printer, SizesAreInTheLargestUnitThatIsExact) {
  EXPECT_EQ(print_size({0}), "0");
  EXPECT_EQ(print_size({1023}), "1023");
  EXPECT_EQ(print_size({1024}), "1KiB");
  EXPECT_EQ(print_size({1572864}), "1536KiB");
  EXPECT_EQ(print_size({std::uint64_t{20} << 20}), "20MiB");
  EXPECT_EQ(print_size({std::uint64_t{1} << 63}), "8589934592GiB");
}

}  // namespace
}  // namespace cairn::testing
