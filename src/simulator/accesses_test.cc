// How the bytes are cut into cells, and that cells do not stay cut.
#include "simulator/accesses.h"

#include <gtest/gtest.h>

namespace cairn::simulator {
namespace {

using namespace cairn::literals;

constexpr StreamNumber s1{1};
constexpr Address a{0x100000000000};

class AccessesTest : public testing::Test {
 protected:
  AccessesTest() { host.add(s1, 0); }
  // A kernel of the only stream, in an ownership of its own.
  void access(Span range, bool is_read_only = false) {
    Access access;
    access.stream = s1;
    access.kernel = ++kernels;
    access.done_at = kernels;
    access.ownership = kernels;
    access.is_read_only = is_read_only;
    EXPECT_TRUE(accesses.add(range, access, before).empty());
    before.raise({s1, kernels});
  }

  HostView host;
  Clock before;
  KernelNumber kernels = 0;
  Accesses accesses{host};
};

TEST_F(AccessesTest, AReadInTheMiddleCutsAWriteInThree) {
  access({a, 3_KiB});
  EXPECT_EQ(accesses.size(), 1u);
  access({a + 1_KiB, 1_KiB}, true);
  EXPECT_EQ(accesses.size(), 3u);
}

TEST_F(AccessesTest, CellsThatAreAlikeAgainBecomeOne) {
  for (unsigned i = 0; i < 64; ++i) access({a + 512_B * i, 512_B});
  EXPECT_EQ(accesses.size(), 64u);
  for (int i = 0; i < 3; ++i) access({a, 32_KiB});
  EXPECT_EQ(accesses.size(), 1u);
}

TEST_F(AccessesTest, AWriteFillsTheGapsBetweenCells) {
  access({a, 512_B});
  access({a + 2_KiB, 512_B});
  for (int i = 0; i < 3; ++i) access({a, 4_KiB});
  EXPECT_EQ(accesses.size(), 1u);
  EXPECT_NE(accesses.running({a + 1_KiB, 1_B}, 0), nullptr);
  EXPECT_EQ(accesses.running({a + 4_KiB, 1_B}, 0), nullptr);
}

TEST_F(AccessesTest, WhatTheHostSawDoneIsForgotten) {
  access({a, 512_B});
  access({a + 2_KiB, 512_B});
  Clock first;
  first.raise({s1, 1});
  host.see(first);
  accesses.prune();
  EXPECT_EQ(accesses.size(), 1u);
  host.see(before);
  accesses.prune();
  EXPECT_EQ(accesses.size(), 0u);
  EXPECT_TRUE(accesses.streams().empty());
}

}  // namespace
}  // namespace cairn::simulator
