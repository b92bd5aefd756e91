#include "preload/postponed_frees.h"

#include <gtest/gtest.h>

namespace cairn::preload {
namespace {

// Settles, and gives how often it waited.
int waits_of(PostponedFrees& postponed) {
  int waits = 0;
  EXPECT_TRUE(postponed.settle(
      [&] {
        ++waits;
        return true;
      },
      [](const LiveBlock&) {}));
  return waits;
}

TEST(PostponedFrees, AreSettledOnce) {
  PostponedFrees postponed;
  EXPECT_EQ(waits_of(postponed), 0);
  postponed.add_wait();
  EXPECT_EQ(waits_of(postponed), 1);
  EXPECT_EQ(waits_of(postponed), 0);
}

TEST(PostponedFrees, AWaitThatIsAskedForDuringAWaitIsAnotherOne) {
  PostponedFrees postponed;
  postponed.add_wait();
  EXPECT_TRUE(postponed.settle(
      [&] {
        postponed.add_wait();
        return true;
      },
      [](const LiveBlock&) {}));
  EXPECT_EQ(waits_of(postponed), 1);
}

TEST(PostponedFrees, AWaitThatFailsIsStillDue) {
  PostponedFrees postponed;
  postponed.add_wait();
  EXPECT_FALSE(postponed.settle([] { return false; }, [](const LiveBlock&) {}));
  EXPECT_EQ(waits_of(postponed), 1);
}

}  // namespace
}  // namespace cairn::preload
