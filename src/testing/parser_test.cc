#include "testing/parser.h"

#include <gtest/gtest.h>

#include <random>

#include "testing/printer.h"

namespace cairn::testing {
namespace {

Program parsed(const std::string& text) {
  const auto program = parse_program(text);
  if (program.failed()) {
    ADD_FAILURE() << text << "\n"
                  << program.error().line << ":" << program.error().column << ": "
                  << program.error().message;
    return {};
  }
  return *program;
}

template <class T>
T only(const std::string& text) {
  const Program program = parsed(text);
  const T* operation = program.statements.size() == 1
                           ? std::get_if<T>(&program.statements.front().operation)
                           : nullptr;
  if (operation == nullptr) ADD_FAILURE() << text;
  return operation == nullptr ? T{} : *operation;
}

void refused(const std::string& text, int line, int column, const std::string& why) {
  const auto program = parse_program(text);
  ASSERT_TRUE(program.failed()) << text;
  EXPECT_EQ(program.error().line, line) << text << "\n" << program.error().message;
  EXPECT_EQ(program.error().column, column) << text << "\n" << program.error().message;
  EXPECT_NE(program.error().message.find(why), std::string::npos) << text << "\n"
                                                                  << program.error().message;
}

TEST(Parser, NothingIsAProgramOfNoStatements) {
  for (const char* text : {"", "\n", "\r\n\r\n", "  \t\n", "# only a comment", "#\0\x01\n"})
    EXPECT_TRUE(parsed(text).statements.empty()) << text;
}

TEST(Parser, BlanksCommentsAndLineEndsChangeNothing) {
  const Program plain = parsed("alloc a 1MiB s1\nfree a\n");
  EXPECT_EQ(parsed("\talloc  a\t1MiB   s1 # why\r\n\r\n  free a"), plain);
  EXPECT_EQ(plain.statements[1].line, 2);
}

TEST(Parser, SizesAreWholeBytesInTheEnd) {
  EXPECT_EQ(only<Alloc>("alloc a 0").size, Bytes{0});
  EXPECT_EQ(only<Alloc>("alloc a 1.5MiB").size, Bytes{1572864});
  EXPECT_EQ(only<Alloc>("alloc a 1.000000000931322574615478515625GiB").size, Bytes{1073741825});
  EXPECT_EQ(only<Alloc>("alloc a 512.0").size, Bytes{512});
  EXPECT_EQ(only<Alloc>("alloc a 18446744073709551615").size, Bytes{~std::uint64_t{0}});
  EXPECT_EQ(only<Alloc>("alloc a 17179869183GiB").size.count, 17179869183u << 30);
  refused("alloc a 1.5", 1, 9, "not a whole number of bytes");
  refused("alloc a 0.0001KiB", 1, 9, "not a whole number of bytes");
  refused("alloc a 18446744073709551616", 1, 9, "does not fit 64 bits");
  refused("alloc a 17179869184GiB", 1, 9, "does not fit 64 bits");
  for (const char* word : {"-1", "1e6", ".5MiB", "1.MiB", "1MB", "MiB", "0x200", "1..2KiB"})
    refused(std::string("alloc a ") + word, 1, 9, "");
}

TEST(Parser, AnAllocationSaysWhereAndHow) {
  EXPECT_EQ(only<Alloc>("alloc a 512").stream, "s0");
  const auto alloc = only<Alloc>("alloc a 1MiB s1 align=4KiB = 0x7E0000400000");
  EXPECT_EQ(alloc.stream, "s1");
  EXPECT_EQ(alloc.align, Bytes{4096});
  EXPECT_EQ(alloc.expected, Address{0x7e0000400000});
  EXPECT_EQ(only<Alloc>("alloc a 1MiB = 0x200"), only<Alloc>("alloc a 1MiB s0 =0x200"));
  EXPECT_EQ(only<AllocAt>("alloc_at a 1MiB s1 0x400").address, Address{0x400});
  refused("alloc", 1, 6, "a name is missing");
  refused("alloc a", 1, 8, "a size is missing");
  refused("alloc small 1MiB", 1, 7, "reserved word");
  refused("alloc 1a 1MiB", 1, 7, "not a name");
  refused("alloc a 1MiB s1 align=4KiB align=8KiB", 1, 28, "twice");
  refused("alloc a 1MiB s1 colour=red", 1, 17, "no option");
  refused("alloc a 1MiB s1 = 1234", 1, 19, "not an address");
  refused("alloc a 1MiB s1 = 0x10000000000000000", 1, 19, "not an address");
  refused("alloc a 1MiB s1 = 0x200 s2", 1, 25, "nothing may follow");
  refused("alloc a 1MiB null", 1, 14, "reserved word");
}

TEST(Parser, AFreeNamesItsTargetInFourWays) {
  EXPECT_EQ(only<Free>("free a").target,
            (std::variant<NamedTarget, Address, NullTarget>{NamedTarget{"a", {}}}));
  EXPECT_EQ(std::get<NamedTarget>(only<Free>("free a+4KiB").target).offset, Bytes{4096});
  EXPECT_EQ(std::get<Address>(only<Free>("free 0x1234").target), Address{0x1234});
  EXPECT_TRUE(std::holds_alternative<NullTarget>(only<Free>("free null").target));
  const auto free = only<Free>("free a on s2 stream=s0 size=5");
  EXPECT_EQ(free.on, "s2");
  EXPECT_EQ(free.size, Bytes{5});
  EXPECT_EQ(free.stream, "s0");
  refused("free", 1, 5, "what to free is missing");
  refused("free a+", 1, 8, "not a size");
  refused("free a-1", 1, 6, "not a name");
  refused("free a on", 1, 10, "missing");
}

TEST(Parser, AnErrorIsExpectedAfterTheLastArrow) {
  const Program program = parsed("T2: alloc a 1GiB -> out_of_memory");
  ASSERT_EQ(program.statements.size(), 1u);
  EXPECT_EQ(program.statements[0].expected, ErrorCode::out_of_memory);
  EXPECT_EQ(program.statements[0].thread, 2);
  EXPECT_EQ(program.statements[0].column, 5);
  for (const char* word : {"rejected", "invalid_argument", "cuda_error", "unsupported"})
    EXPECT_NE(parsed(std::string("poll -> ") + word).statements.at(0).expected, ErrorCode::none);
  refused("alloc a 1GiB -> oom", 1, 17, "none of out_of_memory, rejected");
  refused("alloc a 1GiB -> rejected -> out_of_memory", 1, 14, "is not a name");
  refused("alloc a 1GiB ->", 1, 16, "none of");
  refused("expect 1 == 1 -> rejected", 1, 18, "cannot fail");
  refused("-> rejected", 1, 1, "no statement");
  refused(" T1: -> rejected", 1, 6, "no statement");
}

TEST(Parser, AThreadStandsBeforeWhatItRuns) {
  EXPECT_EQ(parsed("T255:free a").statements.at(0).thread, 255);
  EXPECT_EQ(parsed("T0: free a").statements.at(0).thread, std::nullopt);
  refused("T256: free a", 1, 2, "0 to 255");
  refused("T99999999999999999999: free a", 1, 2, "does not fit");
  refused("T: free a", 1, 1, "no statement");
  refused("T1:", 1, 4, "a statement is missing");
  refused("T1: gpu 0", 1, 5, "belongs to no thread");
  refused("exit", 1, 1, "main thread");
}

TEST(Parser, DeclarationsStandBeforeTheFirstOperation) {
  parsed("device 1\nstream s1 blocking\ngpu 0\ngpu 1 memory=1GiB\nconf a:1\nfree a\n");
  refused("alloc a 1\ngpu 0", 2, 1, "before the first operation");
  refused("expect 1 == 1\n  conf a:1", 2, 3, "before the first operation");
  refused("gpu 1\ngpu 1", 2, 1, "declared above");
  refused("gpu 64", 1, 5, "0 to 63");
  refused("gpu 0 memory=1025GiB", 1, 14, "at most");
  refused("conf # nothing", 1, 5, "missing");
}

TEST(Parser, BlocksTileTheirSegment) {
  const std::string segment = "segment 0x7e0000000000 4MiB large s0\n";
  EXPECT_EQ(parsed(segment + "block a 1MiB\n# half\n\nblock - 3MiB\nfree a").statements.size(), 4u);
  refused("block a 1MiB", 1, 1, "follows the line of its segment");
  refused(segment, 1, 1, "cover 0 of its 4194304 bytes");
  refused(segment + "block a 1MiB\nfree a", 1, 1, "cover 1048576 of");
  refused(segment + "block a 1MiB\nblock b 4MiB", 3, 1, "larger than the 3145728 bytes");
  refused(segment + "block - 1MiB\nblock - 3MiB", 3, 1, "side by side");
  refused(segment + "block a 4MiB\ndevice 0\nblock b 1MiB", 4, 1, "follows the line");
  refused(segment + "block a 100", 2, 9, "multiple of 512");
  refused("segment 0x7e0000000001 4MiB large s0", 1, 9, "multiple of 512");
  refused("segment 0xfffffffffffffe00 4MiB large s0", 1, 28, "does not fit the address space");
  refused("segment 0x200 4MiB huge s0", 1, 20, "none of small, large");
  refused("expect_segment 0x200 4MiB large s0\nblock a 4MiB", 2, 1, "must stand before");
}

TEST(Parser, ExpectedBlocksTileTheirSegmentToo) {
  const std::string segment = "expect_segment 0x7e0000000000 4MiB small s1 gpu=1\n";
  const Program program = parsed(segment +
                                 "expect_block 1MiB active_allocated requested=5\n"
                                 "expect_block 3MiB inactive");
  EXPECT_EQ(std::get<ExpectSegment>(program.statements.at(0).operation).gpu, 1);
  EXPECT_EQ(std::get<ExpectBlock>(program.statements.at(1).operation).requested, Bytes{5});
  refused(segment + "expect_block 1MiB inactive", 1, 1, "cover 1048576 of");
  refused(segment + "expect_block 4MiB idle", 2, 19, "none of active_allocated");
  refused("parallel {\n" + segment + "}\n", 2, 1, "cover 0 of");
}

TEST(Parser, FaultsNameACallATimeAndAnError) {
  const auto fault =
      only<Fault>("fault event_record error=illegal_address count=forever at=3 sticky");
  EXPECT_EQ(fault.call, DriverCall::event_record);
  EXPECT_EQ(fault.at, 3u);
  EXPECT_EQ(fault.error, CudaStatus::illegal_address);
  EXPECT_EQ(fault.count, std::nullopt);
  EXPECT_TRUE(fault.sticky);
  EXPECT_EQ(only<Fault>("fault free at=1 error=unsupported").error, CudaStatus::not_supported);
  refused("fault cudaMalloc at=1 error=unknown", 1, 7, "not a kind of driver call");
  refused("fault malloc at=1", 1, 7, "needs at=N and error=NAME");
  refused("fault malloc at=0 error=unknown", 1, 17, "begins at 1");
  refused("fault malloc at=1 error=success", 1, 25, "not the name of a CUDA error");
  refused("fault malloc at=x error=unknown", 1, 17, "not a number");
}

TEST(Parser, LaunchesListWhatTheyTouch) {
  const auto launch = only<Launch>("launch ptds a,b:r 10");
  EXPECT_EQ(launch.stream, "ptds");
  EXPECT_EQ(launch.touches, (std::vector<Touch>{{"a", false}, {"b", true}}));
  refused("launch s1 a,,b 10", 1, 13, "'' is not a name");
  refused("launch s1 a:w 10", 1, 12, "only :r");
  refused("launch s1 a, b 10", 1, 13, "'' is not a name");
}

TEST(Parser, BodiesEndAtABraceOfTheirOwn) {
  const Program program = parsed("during malloc at=2 {\n  T1: alloc a 1\n}\nparallel {\n}\n");
  EXPECT_EQ(std::get<During>(program.statements.at(0).operation).body.size(), 1u);
  EXPECT_TRUE(std::get<Parallel>(program.statements.at(1).operation).body.empty());
  refused("poll\nparallel {\npoll", 2, 1, "no line with a }");
  refused("}", 1, 1, "no { is open");
  refused("parallel {\nduring malloc at=1 {\n}\n}", 2, 1, "within braces");
  refused("parallel", 1, 9, "missing");
  refused("during malloc {", 1, 15, "at=N is expected");
  refused("parallel {\n} poll", 2, 1, "no statement");
  refused("parallel {\ngpu 0\n}", 2, 1, "before the first operation");
}

TEST(Parser, SumsAreCompared) {
  const auto expect = only<Expect>("expect addr(b)-addr(a) + 0x10 >= reserved(small)@1 + 1.5MiB");
  EXPECT_EQ(expect.comparison, Comparison::greater_equal);
  ASSERT_EQ(expect.left.size(), 3u);
  EXPECT_TRUE(expect.left[1].negative);
  EXPECT_EQ(expect.left[1].query, "addr");
  EXPECT_EQ(expect.left[1].argument, "a");
  EXPECT_EQ(expect.left[2].number, 16u);
  ASSERT_EQ(expect.right.size(), 2u);
  EXPECT_EQ(expect.right[0].device, 1);
  EXPECT_EQ(only<Expect>("expect stream(a) == s1").right.at(0).argument, "s1");
  EXPECT_EQ(only<Expect>("expect peak_blocks(active,small) == 1").left.at(0).argument,
            "active,small");
  refused("expect", 1, 7, "what must be true is missing");
  refused("expect reserved", 1, 16, "none of ==");
  refused("expect reserved = 1", 1, 17, "none of ==");
  refused("expect reserved == ", 1, 19, "a number or a quantity is missing");
  refused("expect reserved == 1 2", 1, 22, "nothing may follow");
  refused("expect peak_ooms(x) == 1", 1, 8, "nothing that can be asked for");
  refused("expect calls(cudaMalloc) == 1", 1, 14, "kind of driver call");
  refused("expect blocks == 1", 1, 15, "needs (...)");
  refused("expect blocks(live) == 1", 1, 15, "none of allocated");
  refused("expect oom(all) == 1", 1, 12, "none of tried");
  refused("expect ooms(a) == 1", 1, 13, "nothing can be asked");
  refused("expect reserved(small == 1", 1, 23, "')' is expected");
  refused("expect addr(a)@1 == 1", 1, 15, "none of ==");
  refused("expect reserved@x == 1", 1, 17, "not a number");
  refused("expect + 1 == 1", 1, 8, "");
}

TEST(Parser, StrangeBytesHaveAPlaceAndAName) {
  refused(std::string("alloc a\0 1", 10), 1, 8, "'\\x00'");
  refused("poll\n\xff\xfe", 2, 1, "'\\xff\\xfe' is no statement");
  refused("poll\x7f", 1, 5, "'\\x7f'");
  refused(std::string(100000, 'x'), 1, 1, "xxx...'");
  refused("alloc a " + std::string(100000, '9'), 1, 9, "does not fit");
  refused("alloc a 0." + std::string(100000, '9') + "GiB", 1, 9, "whole number");
}

// Whatever is read can be printed, and is then read as the same.
void round_trip(const std::string& text) {
  const auto program = parse_program(text);
  if (program.failed()) {
    EXPECT_GE(program.error().line, 1);
    EXPECT_GE(program.error().column, 1);
    EXPECT_FALSE(program.error().message.empty());
    return;
  }
  const std::string printed = print_program(*program);
  EXPECT_EQ(parsed(printed), *program) << text << "\n---\n" << printed;
}

TEST(Parser, RandomBytesAreRefusedOrReadAndNeverCrash) {
  std::mt19937 random(1);
  const std::string likely = "allocfree expect s0 T1:{}->=0x123.5MiB\n\n\r\t #@()+-,:\0\xff";
  for (int round = 0; round < 20000; ++round) {
    std::string text(random() % 40, ' ');
    for (char& c : text) c = likely[random() % likely.size()];
    round_trip(text);
  }
}

TEST(Parser, RandomMutationsAreRefusedOrReadAndNeverCrash) {
  const std::string seeds[] = {
      "gpu 0 memory=1GiB adjacent\nconf max_split_size_mb:128\nsegment 0x7e0000000000 4MiB large "
      "s0\n"
      "block w 1MiB\nblock - 3MiB\nfault malloc at=3 error=out_of_memory count=2 sticky\n",
      "T1: alloc a 1.5MiB s1 align=4KiB = 0x7e0000400000 -> out_of_memory\nfree a+4096 on s2 "
      "size=1\n",
      "during malloc at=1 {\nuse a s2\n}\nparallel {\nT2: launch s1 a,b:r 10\n}\nschedule 0 1 1\n",
      "expect reserved(small)@1 + addr(a) - 2 <= peak_blocks(active) + calls(free)\n",
      "expect_segment 0x200 1MiB small s0\nexpect_block 1MiB inactive requested=5\nsync s1 gpu=1\n",
  };
  std::mt19937 random(2);
  for (int round = 0; round < 20000; ++round) {
    std::string text = seeds[random() % std::size(seeds)];
    for (std::uint32_t change = random() % 4; change-- > 0;) {
      const auto at = random() % text.size();
      const std::string& other = seeds[random() % std::size(seeds)];
      const auto from = random() % other.size();
      if (random() % 2 == 0) text.erase(at, random() % 8);
      text.insert(std::min<std::size_t>(at, text.size()), other.substr(from, random() % 12));
    }
    round_trip(text);
  }
}

}  // namespace
}  // namespace cairn::testing
