#include "driver/driver_call.h"

#include <gtest/gtest.h>

#include <set>

namespace cairn {
namespace {

TEST(DriverCall, EveryKindHasANameOfItsOwnThatLeadsBackToIt) {
  std::set<std::string_view> seen;
  for (int i = 0; i < driver_call_count; ++i) {
    const auto call = static_cast<DriverCall>(i);
    EXPECT_TRUE(seen.insert(to_string(call)).second) << to_string(call);
    EXPECT_EQ(driver_call_from(to_string(call)), call);
  }
}

TEST(DriverCall, NamesStandForTheKindsThatTheySay) {
  EXPECT_EQ(to_string(DriverCall::malloc), "malloc");
  EXPECT_EQ(to_string(DriverCall::stream_sync), "stream_sync");
  EXPECT_EQ(to_string(DriverCall::graph_dependencies), "graph_dependencies");
  EXPECT_EQ(to_string(DriverCall::export_handle), "export");
  EXPECT_EQ(to_string(DriverCall::import_handle), "import");
  EXPECT_EQ(to_string(DriverCall::memset), "memset");
}

TEST(DriverCall, OtherNamesNameNothing) {
  for (const char* name : {"", "Malloc", "malloc ", "export_handle", "cuMemAlloc"})
    EXPECT_EQ(driver_call_from(name), std::nullopt) << name;
}

}  // namespace
}  // namespace cairn
