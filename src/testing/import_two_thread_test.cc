#include "testing/import_two_thread.h"

#include <gtest/gtest.h>

#include "testing/printer.h"

namespace cairn::testing {
namespace {

std::string text_of(const std::string& rows) {
  const auto imported = import_two_thread(std::string(two_thread_header) + "\n" + rows);
  return imported ? print_program(imported->program) : to_string(imported.error());
}

TEST(ImportTwoThread, ThreadsComeInOrderOfAppearanceAndTotalsAreExpected) {
  EXPECT_EQ(text_of("1,900,4096,512,1536,0\n"
                    "2,800,8192,1024,2560,0\n"
                    "3,800,4096,-512,2048,0\n"),
            "gpu 0 memory=80GiB\n"
            "T1: alloc a1 512\n"
            "expect requested + 1KiB == 1536\n"
            "T2: alloc a2 1KiB\n"
            "expect requested + 1KiB == 2560\n"
            "T2: free a1\n"
            "expect requested + 1KiB == 2KiB\n");
}

TEST(ImportTwoThread, WhatIsOnlyFreedIsAllocatedBeforeAllRows) {
  EXPECT_EQ(text_of("1,900,4096,512,2048,0\n"
                    "2,800,8192,-1024,1024,0\n"),
            "gpu 0 memory=80GiB\n"
            "T2: alloc w1 1KiB\n"
            "T1: alloc a1 512\n"
            "expect requested + 512 == 2KiB\n"
            "T2: free w1\n"
            "expect requested + 512 == 1KiB\n");
}

TEST(ImportTwoThread, NamesTheLineOfABadRow) {
  EXPECT_EQ(text_of("1,1,4096,0,0,0\n"), "line 2: bytes is 0");
  EXPECT_EQ(text_of("1,1,4096,512,512,0\n1,1,8192,512,512,0\n"),
            "line 3: total_allocated is not that of the row before and this row's bytes");
  EXPECT_EQ(text_of("1,1,4096,512,512,0\n1,1,4096,512,1024,0\n"),
            "line 3: allocates an address that is still live");
  EXPECT_EQ(text_of("1,1,4096,512,1024,0\n1,1,4096,-1024,0,0\n"),
            "line 3: frees another number of bytes than was allocated");
  EXPECT_EQ(text_of("1,1,4096,-512,512,0\n1,1,4096,-512,0,0\n"),
            "line 3: frees an address for the second time");
  EXPECT_EQ(text_of("1,1,4096,512,100,0\n"),
            "line 2: total_allocated is less than what the rows allocate and free");
  EXPECT_EQ(text_of("1,one,4096,512,100,0\n"),
            "line 2: tid is 'one', not a whole number of 64 bits");
}

}  // namespace
}  // namespace cairn::testing
