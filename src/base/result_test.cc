#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>

namespace cairn {
namespace {

TEST(Result, HoldsAValue) {
  const Result<std::string, int> result = std::string("found");
  EXPECT_TRUE(result);
  EXPECT_FALSE(result.failed());
  EXPECT_EQ(*result, "found");
  EXPECT_EQ(result->size(), 5U);
}

TEST(Result, HoldsTheReasonOfAFailure) {
  const Result<std::string, int> result = Failure{700};
  EXPECT_FALSE(result);
  EXPECT_TRUE(result.failed());
  EXPECT_EQ(result.error(), 700);
}

TEST(Result, AFailureIsNotAValueThoughTheTypesAreOne) {
  const Result<int, int> good = 7;
  const Result<int, int> bad = Failure{7};
  EXPECT_TRUE(good);
  EXPECT_FALSE(bad);
}

TEST(Result, AFalseValueIsStillAValue) {
  const Result<bool, int> result = false;
  EXPECT_TRUE(result);
  EXPECT_FALSE(*result);
}

TEST(Result, CarriesWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>, int> result = std::make_unique<int>(3);
  const std::unique_ptr<int> taken = std::move(*result);
  EXPECT_EQ(*taken, 3);
}

TEST(Result, ItsValueCanBeChangedInPlace) {
  Result<int, std::string> result = 1;
  *result = 2;
  EXPECT_EQ(*result, 2);
  result = Failure{std::string("gone")};
  EXPECT_EQ(result.error(), "gone");
}

TEST(Result, IsNoNumber) {
  static_assert(!std::is_convertible_v<Result<int, std::string>, bool>);
  static_assert(!std::is_convertible_v<Result<int, std::string>, int>);
}

}  // namespace
}  // namespace cairn
