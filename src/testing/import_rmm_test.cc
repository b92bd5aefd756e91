#include "testing/import_rmm.h"

#include <gtest/gtest.h>

#include "testing/printer.h"

namespace cairn::testing {
namespace {

const std::string header = std::string(rmm_header) + "\n";

std::string text_of(const std::string& rows, const RmmOptions& options = {}) {
  const std::string log = header + rows;
  const auto imported = import_rmm(log, options);
  return imported ? print_program(imported->program) : to_string(imported.error());
}

TEST(ImportRmm, ThreadsAndStreamsComeInOrderOfAppearance) {
  EXPECT_EQ(text_of("140021,10:00:00.000001,allocate,0x7f0000000000,1024,0x0\n"
                    "140055,10:00:00.000002,allocate,0x7f0000000400,512,0x55d0\n"
                    "140021,10:00:00.000003,allocate,0x7f0000000800,512,0x1\n"
                    "140021,10:00:00.000004,free,0x7f0000000000,1024,0x0\n"),
            "gpu 0 memory=80GiB\n"
            "T1: alloc a1 1KiB\n"
            "T2: alloc a2 512 s1\n"
            "T1: alloc a3 512\n"
            "T1: free a1\n");
}

TEST(ImportRmm, AFreeOnAnotherStreamSaysSo) {
  EXPECT_EQ(text_of("1,t,allocate,0x100,512,0x2\n1,t,allocate,0x300,512,0x2\n"
                    "1,t,free,0x100,512,0x9\n2,t,free,0x300,512,0x2\n"),
            "gpu 0 memory=80GiB\n"
            "T1: alloc a1 512 ptds\n"
            "T1: alloc a2 512 ptds\n"
            "T1: free a1 on s1\n"
            "T2: free a2 on ptds\n");
}

TEST(ImportRmm, FailuresAndNullsAreCounted) {
  const auto imported = import_rmm(header +
                                   "1,t,allocate failure,0x0,512,0x0\n"
                                   "1,t,allocate,(nil),0,0x0\n"
                                   "1,t,free,(nil),0,0x0\n");
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(imported->report.skipped.at("allocate failure"), 1U);
  EXPECT_EQ(imported->report.skipped.at("null pointers"), 2U);
  EXPECT_EQ(imported->program.statements.size(), 1U);
}

TEST(ImportRmm, NamesTheLineOfABadRow) {
  EXPECT_EQ(text_of("1,t,free,0x100,512,0x0\n"), "line 2: frees a pointer that is not live");
  EXPECT_EQ(text_of("1,t,allocate,0x100,512,0x0\n1,t,allocate,0x100,512,0x0\n"),
            "line 3: allocates a pointer that is still live");
  EXPECT_EQ(text_of("1,t,allocate,0x100,512,0x0\n1,t,free,0x100,511,0x0\n"),
            "line 3: frees 511 bytes where 512 were allocated");
  EXPECT_EQ(text_of("1,t,grow,0x100,512,0x0\n"),
            "line 2: the action is not allocate, allocate failure or free");
  EXPECT_EQ(text_of("1,t,allocate,zz,512,0x0\n"),
            "line 2: Pointer is 'zz', not a hexadecimal number of 64 bits");
  EXPECT_EQ(text_of("1,t,allocate,0x100,512\n"),
            "line 2: the row has not the 6 fields of the header");
  EXPECT_EQ(text_of("1,t,allocate,0x100,1152921504606846976,0x0\n"),
            "line 2: Size is 1152921504606846976");
}

TEST(ImportRmm, UnknownFreesCanBeSkipped) {
  RmmOptions options;
  options.skip_unknown_frees = true;
  EXPECT_EQ(text_of("1,t,free,0x100,512,0x0\n", options), "gpu 0 memory=80GiB\n");
}

}  // namespace
}  // namespace cairn::testing
