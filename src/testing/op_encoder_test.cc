#include "testing/op_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "testing/op_decoder.h"
#include "testing/op_run.h"
#include "testing/parser.h"
#include "testing/printer.h"

namespace cairn::testing {
namespace {

std::vector<std::string> lines_of(const Program& program) {
  std::vector<std::string> lines;
  for (const Statement& statement : program.statements) lines.push_back(print_statement(statement));
  return lines;
}

// How many lines of `a` stand in `b` too, in the same order: the longest common subsequence.
template <class Line>
std::size_t common(const std::vector<Line>& a, const std::vector<Line>& b) {
  std::vector<std::size_t> best(b.size() + 1);
  for (const Line& line : a) {
    std::size_t before = 0;  // Of the line before, up to here.
    for (std::size_t i = 0; i < b.size(); ++i) {
      const std::size_t above = best[i + 1];
      best[i + 1] = line == b[i] ? before + 1 : std::max(above, best[i]);
      before = above;
    }
  }
  return best.back();
}

Program program_of(const std::string& text) {
  auto program = parse_program(text);
  if (program.failed()) {
    ADD_FAILURE() << program.error().line << ": " << program.error().message << "\n" << text;
    return {};
  }
  return std::move(*program);
}

// What the tape says, without its declarations; all succeeds but what is wrong on purpose.
std::string said(const std::string& text) {
  const Encoded encoded = encode(program_of(text));
  OpDecoder decoder(encoded.tape.setup);
  decoder.declarations();
  Program program;
  for (const Op& op : encoded.tape.ops) {
    decoder.begin(op);
    while (const auto statement = decoder.next()) {
      decoder.done(*statement, op.kind != OpKind::bad_free);
      program.statements.push_back(*statement);
    }
  }
  const std::string left_out = std::to_string(encoded.left_out);
  return print_program(program) + (encoded.left_out == 0 ? "" : left_out + " left out\n");
}

std::string declared(const std::string& text) {
  return print_program({OpDecoder(encode(program_of(text)).tape.setup).declarations()});
}

TEST(Encode, says_the_statements_with_names_of_the_decoder) {
  EXPECT_EQ(said("alloc x 8MiB one\n"
                 "alloc y 3000 two align=4KiB\n"
                 "order one two\n"
                 "launch two x:r,y 100\n"
                 "use x two\n"
                 "free x\n"
                 "free y on one\n"
                 "sync two\n"
                 "advance 10\n"
                 "poll\n"
                 "empty_cache\n"
                 "reset peak\n"),
            "alloc a0 8MiB s1\n"
            "alloc a1 3000 s2 align=4KiB\n"
            "order s1 s2\n"
            "launch s2 a0:r,a1 100\n"
            "use a0 s2\n"
            "free a0\n"
            "free a1 on s1\n"
            "sync s2\n"
            "advance 10\n"
            "poll\n"
            "empty_cache\n"
            "reset peak\n");
}

TEST(Encode, says_streams_threads_and_devices) {
  EXPECT_EQ(said("gpu 1\n"
                 "stream one\n"
                 "stream two gpu=1 blocking\n"
                 "T1: device 1\n"
                 "T1: alloc x 1KiB ptds\n"
                 "T1: launch ptds x 1\n"
                 "T1: exit\n"
                 "destroy_stream two unannounced\n"
                 "stream three gpu=0 blocking\n"
                 "destroy_stream one\n"
                 "stream four reuse=one\n"
                 "T2: sync gpu=1\n"
                 "memory_fraction 0.5 gpu=1\n"),
            "T1: device 1\n"
            "T1: alloc a0 1KiB ptds\n"
            "T1: launch ptds a0 1\n"
            "T1: exit\n"
            "destroy_stream s2 unannounced\n"
            "stream s4 gpu=0 blocking\n"
            "destroy_stream s1\n"
            "stream s5 gpu=0 reuse=s1\n"
            "T2: sync gpu=1\n"
            "memory_fraction 0.5 gpu=1\n");
}

TEST(Encode, says_what_is_wrong_on_purpose) {
  EXPECT_EQ(said("alloc x 1KiB s0\n"
                 "free x+8 -> invalid_argument\n"
                 "free x size=1025 -> invalid_argument\n"
                 "free x stream=nobody -> invalid_argument\n"
                 "free 0x7 -> invalid_argument\n"
                 "free null\n"
                 "fault malloc at=2 error=out_of_memory\n"
                 "free x size=1KiB stream=s0\n"
                 "free x -> invalid_argument\n"
                 "use x s0 -> invalid_argument\n"),
            "alloc a0 1KiB\n"
            "free a0+8\n"
            "free a0 size=1025\n"
            "free a0 stream=other\n"
            "free 0x1234\n"
            "free null\n"
            "fault malloc at=2 error=out_of_memory\n"
            "free a0 size=1KiB stream=s0\n"
            "free a0\n"
            "use a0 s0\n");
}

TEST(Encode, declares_what_is_nearest) {
  EXPECT_EQ(declared("gpu 0 memory=100MiB adjacent\n"
                     "gpu 1 memory=1GiB reuse_addresses\n"
                     "conf max_split_size_mb:25,garbage_collection_threshold:0.8\n"
                     "conf best_fit_tie:address,roundup_power2_divisions:4\n"
                     "segment 0x7e0000000000 20MiB large s0 gpu=1\n"
                     "block x 10MiB\n"
                     "block - 10MiB\n"
                     "stream one gpu=1 blocking\n"
                     "alloc y 1KiB two\n"),
            "gpu 0 memory=78MiB adjacent\n"
            "gpu 1 memory=1GiB reuse_addresses\n"
            "conf max_split_size_mb:22,roundup_power2_divisions:4,best_fit_tie:address,"
            "garbage_collection_threshold:0.9\n"
            "segment 0x210000000000 14MiB large s0 gpu=1\n"
            "block i0 3584KiB\n"
            "block i1 3584KiB\n"
            "block - 3584KiB\n"
            "block i3 3584KiB\n"
            "stream s1 gpu=1 blocking\n"
            "stream s2 gpu=0\n"
            "stream s3 gpu=0\n");
}

TEST(Encode, leaves_out_what_no_operation_says) {
  EXPECT_EQ(said("alloc x 1KiB s0\n"
                 "pool P\n"
                 "enter P\n"
                 "leave P\n"
                 "free x\n"
                 "expect allocated == 0\n"),
            "alloc a0 1KiB\n"
            "free a0\n"
            "3 left out\n");
}

TEST(Encode, follows_blocks_that_were_there_at_the_start) {
  EXPECT_EQ(said("segment 0x7e0000000000 2MiB small s0\n"
                 "block x 1MiB\n"
                 "block - 512KiB\n"
                 "block y 512KiB\n"
                 "free y\n"
                 "free x\n"),
            "free i1\nfree i0\n");
}

TEST(Encode, takes_a_failed_allocation_for_what_it_is) {
  EXPECT_EQ(encode(program_of("alloc x 1GiB s0 -> out_of_memory\nfree x\n")).left_out, 1U);
}

// The tape of a Program that came of a tape gives that Program again.
TEST(Encode, gives_a_random_program_back) {
  std::size_t all = 0;
  std::size_t same = 0;
  std::size_t left_out = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Program program = run_seed(seed, 200).program;
    const Encoded encoded = encode(program);
    const OpRun again = run_tape(encoded.tape);
    ASSERT_TRUE(again.holds()) << in_words(again);
    all += program.statements.size();
    same += common(lines_of(program), lines_of(again.program));
    left_out += encoded.left_out;
  }
  EXPECT_GE(100 * same, 95 * all) << same << " of " << all;
  EXPECT_LE(100 * left_out, all) << left_out << " of " << all;
}

}  // namespace
}  // namespace cairn::testing
