#include "invariants/catalogue/report.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "heap/heap.h"
#include "invariants/catalogue/hook.h"

namespace cairn::invariants {
namespace {

void report_sample(const std::string& what) { report(blocks_tile_segment, what, "a.cc", 7); }

// ---- Recorder ----

TEST(Recorder, RecordsWhatIsReported) {
  const Recorder recorder;
  EXPECT_TRUE(recorder.violations().empty());
  report_sample("first");
  report(block_aligned, "second", "b.cc", 8);
  ASSERT_EQ(recorder.violations().size(), 2u);
  EXPECT_STREQ(recorder.violations()[0].invariant.id, "S1");
  EXPECT_EQ(recorder.violations()[0].what, "first");
  EXPECT_STREQ(recorder.violations()[0].file, "a.cc");
  EXPECT_EQ(recorder.violations()[0].line, 7);
  EXPECT_EQ(recorder.violations()[1].what, "second");
}

TEST(Recorder, KnowsTheIdsAmongItsViolations) {
  const Recorder recorder;
  report_sample("");
  EXPECT_TRUE(recorder.has("S1"));
  EXPECT_FALSE(recorder.has("S2"));
  EXPECT_FALSE(recorder.has("S"));
}

TEST(Recorder, ForgetsWhenCleared) {
  Recorder recorder;
  report_sample("");
  recorder.clear();
  EXPECT_TRUE(recorder.violations().empty());
  report_sample("again");
  EXPECT_EQ(recorder.violations().size(), 1u);
}

TEST(Recorder, HidesAnOuterOneAndRestoresIt) {
  const Recorder outer;
  report_sample("before");
  {
    const Recorder inner;
    report_sample("within");
    ASSERT_EQ(inner.violations().size(), 1u);
    EXPECT_EQ(inner.violations()[0].what, "within");
  }
  report_sample("after");
  ASSERT_EQ(outer.violations().size(), 2u);
  EXPECT_EQ(outer.violations()[0].what, "before");
  EXPECT_EQ(outer.violations()[1].what, "after");
}

// ---- what happens without one ----

TEST(ReportDeathTest, PrintsTheIdAndAborts) {
  EXPECT_DEATH(report_sample("a gap"), "cairn: invariant violated: S1 .*a gap");
}

TEST(ReportDeathTest, PrintsAndAbortsAgainAfterARecorder) {
  {
    const Recorder recorder;
  }
  EXPECT_DEATH(report_sample("a gap"), "S1");
}

TEST(Report, IsWordedInOneLine) {
  const Violation violation{blocks_tile_segment, "free block 0x200", "check.cc", 12};
  EXPECT_EQ(to_string(violation),
            "S1 (In address order, a segment's blocks cover it exactly: no gap, no overlap.) "
            "free block 0x200 [check.cc:12]");
}

TEST(Report, GivesTheConditionOfAFactInTheMiddle) {
  const Recorder recorder;
  report_condition(block_size_granular, "size > 0", "a.cc", 3);
  ASSERT_EQ(recorder.violations().size(), 1u);
  EXPECT_EQ(recorder.violations()[0].what, "size > 0");
}

// ---- the hooks ----

// A structure whose checks can be counted, and what it held at each.
struct Fake {
  int value = 0;
  mutable std::vector<int> values_when_checked;
};

void check(const Fake& fake, Cost) { fake.values_when_checked.push_back(fake.value); }

template <bool on>
bool store_if_positive(Fake& fake, int value) {
  [[maybe_unused]] Scope<Fake, on> scope{fake};
  if (value <= 0) return false;
  fake.value = value;
  return true;
}

TEST(Audit, ChecksOnTheWayInAndOut) {
  Fake fake;
  EXPECT_TRUE(store_if_positive<true>(fake, 5));
  EXPECT_EQ(fake.values_when_checked, (std::vector<int>{0, 5}));
}

TEST(Audit, ChecksOnAnEarlyReturn) {
  Fake fake;
  EXPECT_FALSE(store_if_positive<true>(fake, -1));
  EXPECT_EQ(fake.values_when_checked, (std::vector<int>{0, 0}));
}

TEST(Audit, ChecksWhenAnExceptionLeaves) {
  Fake fake;
  const auto fail = [&fake] {
    const Audit<Fake> scope{fake};
    fake.value = 1;
    throw 0;
  };
  EXPECT_THROW(fail(), int);
  EXPECT_EQ(fake.values_when_checked, (std::vector<int>{0, 1}));
}

TEST(Audit, ChecksNothingWhereItIsOff) {
  Fake fake;
  EXPECT_TRUE(store_if_positive<false>(fake, 5));
  EXPECT_TRUE(fake.values_when_checked.empty());
}

TEST(Audit, IsOnAtAnyLevelAboveOff) {
  Fake fake;
  {
    CAIRN_AUDIT(fake);
  }
  EXPECT_EQ(fake.values_when_checked.size(), level > 0 ? 2u : 0u);
}

static_assert(std::is_reference_v<Scope<Heap, false>>, "no guard is left when off");
static_assert(!std::is_copy_constructible_v<Audit<Heap>>);

TEST(Holds, ReportsItsConditionIfTheLevelWantsIt) {
  const Recorder recorder;
  const int blocks = 0;
  CAIRN_HOLDS(event_count_not_negative, blocks > 0);
  ASSERT_EQ(recorder.violations().size(), wanted(Cost::constant) ? 1u : 0u);
  if (!wanted(Cost::constant)) return;
  EXPECT_TRUE(recorder.has("U1"));
  EXPECT_EQ(recorder.violations()[0].what, "blocks > 0");
}

TEST(Holds, LooksAtItsConditionOnlyIfTheLevelWantsIt) {
  const Recorder recorder;
  int looks = 0;
  CAIRN_HOLDS(segments_disjoint, ++looks > 0);
  EXPECT_EQ(looks, wanted(Cost::heap) ? 1 : 0);
  EXPECT_TRUE(recorder.violations().empty());
}

TEST(Level, WantsItsOwnCostAndThoseBelow) {
  for (const Cost cost : {Cost::constant, Cost::structure, Cost::heap}) {
    EXPECT_EQ(wanted(cost), static_cast<int>(cost) <= level);
  }
}

}  // namespace
}  // namespace cairn::invariants
