#include "cairn/errors.h"

#include <gtest/gtest.h>

#include <new>
#include <string>

namespace cairn {
namespace {

Error make(ErrorCode code) { return {code, 700, "what happened"}; }

// The code that arrives when an Error of `code` is thrown and caught as `Caught`.
template <class Caught>
ErrorCode thrown(ErrorCode code) {
  try {
    throw_error(make(code));
  } catch (const Caught& exception) {
    EXPECT_STREQ(exception.what(), "what happened");
    EXPECT_EQ(exception.error().message, "what happened");
    EXPECT_EQ(exception.error().cuda_code, 700);
    return exception.code();
  } catch (...) {
    ADD_FAILURE() << "another exception than expected for " << to_string(code);
  }
  return ErrorCode::none;
}

TEST(Errors, EachCodeHasTheWordThatProgramsUse) {
  EXPECT_STREQ(to_string(ErrorCode::none), "none");
  EXPECT_STREQ(to_string(ErrorCode::out_of_memory), "out_of_memory");
  EXPECT_STREQ(to_string(ErrorCode::rejected), "rejected");
  EXPECT_STREQ(to_string(ErrorCode::invalid_argument), "invalid_argument");
  EXPECT_STREQ(to_string(ErrorCode::cuda_error), "cuda_error");
  EXPECT_STREQ(to_string(ErrorCode::unsupported), "unsupported");
  EXPECT_STREQ(to_string(ErrorCode::out_of_host_memory), "out_of_host_memory");
}

TEST(Errors, EachCodeIsThrownAsItsException) {
  EXPECT_EQ(thrown<OutOfMemory>(ErrorCode::out_of_memory), ErrorCode::out_of_memory);
  EXPECT_EQ(thrown<OutOfMemory>(ErrorCode::rejected), ErrorCode::rejected);
  EXPECT_EQ(thrown<InvalidArgument>(ErrorCode::invalid_argument), ErrorCode::invalid_argument);
  EXPECT_EQ(thrown<CudaError>(ErrorCode::cuda_error), ErrorCode::cuda_error);
  EXPECT_EQ(thrown<Unsupported>(ErrorCode::unsupported), ErrorCode::unsupported);
}

TEST(Errors, WantOfHostMemoryIsBadAlloc) {
  EXPECT_THROW(throw_error(make(ErrorCode::out_of_host_memory)), std::bad_alloc);
}

TEST(Errors, AllButBadAllocAreCaughtByTheirBase) {
  for (const auto code :
       {ErrorCode::out_of_memory, ErrorCode::rejected, ErrorCode::invalid_argument,
        ErrorCode::cuda_error, ErrorCode::unsupported}) {
    EXPECT_EQ(thrown<Exception>(code), code);
  }
}

TEST(Errors, AnErrorIsTrueUnlessItsCodeIsNone) {
  EXPECT_FALSE(Error{});
  EXPECT_TRUE(make(ErrorCode::unsupported));
}

}  // namespace
}  // namespace cairn
