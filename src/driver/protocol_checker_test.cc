// Each rule of the protocol, broken on purpose, is told by its name; kept, nothing is said.
#include "driver/protocol_checker.h"

#include <gtest/gtest.h>

#include <vector>

#include "driver/fault_injector.h"
#include "driver/null_driver.h"

namespace cairn {
namespace {

class ProtocolCheckerTest : public testing::Test {
 protected:
  std::vector<ProtocolRule> broken() const {
    std::vector<ProtocolRule> rules;
    for (const ProtocolViolation& violation : violations) rules.push_back(violation.rule);
    return rules;
  }

  NullDriver null{2};
  FaultInjector injector{null};
  std::vector<ProtocolViolation> violations;
  ProtocolChecker checker{injector,
                          [this](const ProtocolViolation& v) { violations.push_back(v); }};
};

TEST_F(ProtocolCheckerTest, SaysNothingWhereEverySpanGoesBackOnce) {
  const Address a = *checker.malloc(0, Bytes{512});
  const Address b = *checker.malloc(1, Bytes{512});
  ASSERT_TRUE(checker.mem_info(1));
  ASSERT_TRUE(checker.free(1, b));
  ASSERT_TRUE(checker.free(0, a));
  checker.expect_all_back();
  EXPECT_TRUE(violations.empty());
}

TEST_F(ProtocolCheckerTest, ASpanThatGoesBackTwice) {
  const Address a = *checker.malloc(0, Bytes{512});
  ASSERT_TRUE(checker.free(0, a));
  ASSERT_TRUE(checker.free(0, a));  // The driver below does not mind.
  EXPECT_EQ(broken(), std::vector{ProtocolRule::goes_back_once});
  EXPECT_NE(violations[0].message.find("0x100000000000"), std::string::npos);
}

TEST_F(ProtocolCheckerTest, AnAddressInsideASpanIsNotTheSpan) {
  const Address a = *checker.malloc(0, Bytes{4096});
  ASSERT_TRUE(checker.free(0, a + Bytes{512}));
  EXPECT_EQ(broken(), std::vector{ProtocolRule::goes_back_once});
}

TEST_F(ProtocolCheckerTest, ASpanThatGoesBackToAnotherDevice) {
  const Address a = *checker.malloc(1, Bytes{512});
  ASSERT_TRUE(checker.free(0, a));
  EXPECT_EQ(broken(), std::vector{ProtocolRule::goes_back_to_its_own});
}

TEST_F(ProtocolCheckerTest, ASpanThatNeverGoesBack) {
  ASSERT_TRUE(checker.malloc(1, Bytes{512}));
  EXPECT_TRUE(violations.empty());
  checker.expect_all_back();
  EXPECT_EQ(broken(), std::vector{ProtocolRule::goes_back_once});
  EXPECT_EQ(violations[0].device, 1);
}

TEST_F(ProtocolCheckerTest, AFreeThatFailedHasGivenNothingBack) {
  const Address a = *checker.malloc(0, Bytes{512});
  injector.add({.call = DriverCall::free, .error = CudaStatus::unknown});
  ASSERT_FALSE(checker.free(0, a));
  ASSERT_TRUE(checker.free(0, a));
  checker.expect_all_back();
  EXPECT_TRUE(violations.empty());
}

TEST_F(ProtocolCheckerTest, AMallocThatFailedHasGivenNothing) {
  injector.add({.call = DriverCall::malloc, .error = CudaStatus::out_of_memory});
  ASSERT_FALSE(checker.malloc(0, Bytes{512}));
  checker.expect_all_back();
  EXPECT_TRUE(violations.empty());
}

TEST_F(ProtocolCheckerTest, EveryCallMustNameADeviceThatExists) {
  (void)checker.malloc(2, Bytes{512});
  (void)checker.mem_info(-1);
  ASSERT_EQ(violations.size(), 2u);
  EXPECT_EQ(violations[0].rule, ProtocolRule::known_device);
  EXPECT_EQ(violations[0].device, 2);
  EXPECT_EQ(violations[1].device, -1);
  const Address a = *checker.malloc(0, Bytes{512});
  (void)checker.free(7, a);
  EXPECT_EQ(violations[2].rule, ProtocolRule::known_device);
}

}  // namespace
}  // namespace cairn
