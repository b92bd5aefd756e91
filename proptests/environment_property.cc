// An allocator with the settings of the environment: bad ones are refused, and unknown ones of
// PyTorch's are a warning.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cairn/allocator.h"
#include "driver/null_driver.h"

namespace {

using cairn::Allocator;
using cairn::InvalidArgument;
using cairn::NullDriver;
using cairn::Unsupported;

constexpr std::array variables{"CAIRN_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"};

// The environment with one variable alone, until the end.
class Environment {
 public:
  Environment(const char* name, const std::string& value) {
    for (const char* each : variables) unsetenv(each);
    setenv(name, value.c_str(), 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    for (const char* each : variables) unsetenv(each);
  }
};

RC_GTEST_PROP(Environment, SettingsAreReadOrRefused, ()) {
  const std::string name = variables.at(*rc::gen::inRange<std::size_t>(0, variables.size()));
  const bool is_ours = name == variables[0];
  const std::string text = *rc::gen::element<std::string>(
      "", "max_split_size_mb:100", "max_split_size_mb:many", "backend:cudaMallocAsync",
      "expandable_segments:True", "roundup_power2_divisions:3", "key_of_tomorrow:1");
  const Environment environment(name.c_str(), text);
  NullDriver driver;
  const auto make = [&] { return Allocator::from_environment(driver); };
  const auto is = [&](const char* start) { return text.rfind(start, 0) == 0; };
  if (is("max_split_size_mb:many") || is("roundup") || (is("key") && is_ours)) {
    RC_ASSERT_THROWS_AS(make(), InvalidArgument);
  } else if (is("backend") || is("expandable")) {
    RC_ASSERT_THROWS_AS(make(), Unsupported);
  } else {
    ::testing::internal::CaptureStderr();
    const Allocator made = make();
    const std::string said = ::testing::internal::GetCapturedStderr();
    RC_ASSERT((said.find("key_of_tomorrow") != std::string::npos) == is("key"));
    const bool is_limited = made.stats(0).max_split_size_bytes == std::uint64_t{100} << 20;
    RC_ASSERT(is_limited == is("max"));
  }
}

}  // namespace
