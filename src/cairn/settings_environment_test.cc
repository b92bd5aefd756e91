// Which variable counts, and in whose dialect it is read.
#include "cairn/settings_environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace cairn {
namespace {

std::map<std::string, std::string>& variables() {
  static std::map<std::string, std::string> instance;
  return instance;
}

ParsedSettings with(const std::map<std::string, std::string>& set) {
  variables() = set;
  return settings::from_variables([](const char* name) -> const char* {
    const auto found = variables().find(name);
    return found == variables().end() ? nullptr : found->second.c_str();
  });
}

constexpr const char* ours = "CAIRN_ALLOC_CONF";
constexpr const char* cuda = "PYTORCH_CUDA_ALLOC_CONF";
constexpr const char* plain = "PYTORCH_ALLOC_CONF";

std::uint64_t max_split_mib(const ParsedSettings& parsed) {
  EXPECT_TRUE(parsed.ok) << parsed.error.message;
  return parsed.options.max_split_size_bytes >> 20;
}

TEST(SettingsEnvironment, NoneSetIsTheDefaults) {
  EXPECT_TRUE(with({}).ok);
  EXPECT_EQ(with({}).options, Options{});
}

TEST(SettingsEnvironment, TheFirstThatIsSetCountsAlone) {
  const std::string a = "max_split_size_mb:21";
  const std::string b = "max_split_size_mb:22";
  const std::string c = "max_split_size_mb:23";
  EXPECT_EQ(max_split_mib(with({{ours, a}, {cuda, b}, {plain, c}})), 21u);
  EXPECT_EQ(max_split_mib(with({{cuda, b}, {plain, c}})), 22u);
  EXPECT_EQ(max_split_mib(with({{plain, c}})), 23u);
  EXPECT_EQ(max_split_mib(with({{ours, a}, {cuda, "not : well ::"}})), 21u);
  EXPECT_FALSE(with({{ours, "backend"}, {cuda, b}}).ok);
}

TEST(SettingsEnvironment, AnEmptyVariableIsSet) {
  EXPECT_EQ(with({{ours, ""}, {cuda, "max_split_size_mb:22"}}).options, Options{});
  EXPECT_EQ(with({{cuda, ""}, {plain, "max_split_size_mb:22"}}).options, Options{});
}

TEST(SettingsEnvironment, OurKeysAndStrictnessAreOfOurVariableAlone) {
  EXPECT_EQ(with({{ours, "best_fit_tie:address"}}).options.best_fit_tie, BestFitTie::address);
  EXPECT_FALSE(with({{ours, "nope:1"}}).ok);
  for (const char* theirs : {cuda, plain}) {
    for (const char* text : {"best_fit_tie:address", "nope:1"}) {
      const auto parsed = with({{theirs, text}});
      EXPECT_TRUE(parsed.ok);
      EXPECT_EQ(parsed.options, Options{});
      ASSERT_EQ(parsed.warnings.size(), 1u);
      EXPECT_EQ(parsed.warnings[0].find(std::string(theirs) + ": "), 0u);
    }
  }
}

TEST(SettingsEnvironment, AnErrorNamesTheVariable) {
  for (const char* name : {ours, cuda, plain}) {
    const auto parsed = with({{name, "backend:x"}});
    EXPECT_FALSE(parsed.ok);
    EXPECT_EQ(
        parsed.error.message.find(std::string(name) + ": settings: key \"backend\": found \"x\""),
        0u);
    EXPECT_EQ(parsed.error.position, 8u);
  }
}

TEST(SettingsEnvironment, TheProcessesOwnIsRead) {
  const char* const before = std::getenv(ours);
  const std::string saved = before ? before : "";
  setenv(ours, "max_split_size_mb:33", 1);
  EXPECT_EQ(max_split_mib(settings_from_environment()), 33u);
  if (before) {
    setenv(ours, saved.c_str(), 1);
  } else {
    unsetenv(ours);
  }
}

}  // namespace
}  // namespace cairn
