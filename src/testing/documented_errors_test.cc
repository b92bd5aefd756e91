#include "testing/documented_errors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "driver/cuda_errors.h"

namespace cairn::testing {
namespace {

std::set<CudaStatus> statuses_of(DriverCall call) {
  std::set<CudaStatus> statuses;
  for (const DocumentedError& error : documented_errors(call)) statuses.insert(error.status);
  return statuses;
}

TEST(DocumentedErrors, AreThoseOfTheFunctionFirst) {
  const auto errors = documented_errors(DriverCall::malloc);
  EXPECT_EQ(errors.front().status, CudaStatus::deinitialized);
  EXPECT_EQ(errors.front().source, ErrorSource::own);
  const auto of = [&](CudaStatus status) {
    return std::ranges::find(errors, status, &DocumentedError::status)->source;
  };
  EXPECT_EQ(of(CudaStatus::out_of_memory), ErrorSource::own);
  EXPECT_EQ(of(CudaStatus::unknown), ErrorSource::context);
  EXPECT_EQ(of(CudaStatus::illegal_address), ErrorSource::earlier_work);
}

TEST(DocumentedErrors, AreErrorsAndEachStandsOnce) {
  for (const DriverCall call : calls_of_a_driver()) {
    const auto errors = documented_errors(call);
    EXPECT_GT(errors.size(), 20u) << to_string(call);
    EXPECT_EQ(statuses_of(call).size(), errors.size()) << to_string(call);
    EXPECT_FALSE(statuses_of(call).contains(CudaStatus::success)) << to_string(call);
    EXPECT_FALSE(statuses_of(call).contains(CudaStatus::not_ready)) << to_string(call);
  }
  EXPECT_TRUE(documented_errors(DriverCall::memset).empty());
}

TEST(DocumentedErrors, TellWhereAFunctionIsMissing) {
  EXPECT_TRUE(statuses_of(DriverCall::ctx_record).contains(CudaStatus::not_supported));
  EXPECT_FALSE(statuses_of(DriverCall::event_record).contains(CudaStatus::not_supported));
}

TEST(DocumentedErrors, WhatEndsTheProcessLosesTheDevice) {
  for (const int code : codes_that_end_the_process) {
    EXPECT_TRUE(is_sticky(static_cast<CudaStatus>(code))) << code;
  }
}

}  // namespace
}  // namespace cairn::testing
