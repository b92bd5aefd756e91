#include "testing/import_settings.h"

#include <gtest/gtest.h>

namespace cairn::testing {
namespace {

RecordedSettings with_divisions(std::uint64_t divisions) {
  RecordedSettings settings;
  settings.roundup_power2_divisions.fill(divisions);
  return settings;
}

TEST(ImportSettings, RoundsAsTheRecordedAllocatorDid) {
  EXPECT_EQ(rounded_size(Bytes{1}, {}), Bytes{512});
  EXPECT_EQ(rounded_size(Bytes{513}, {}), Bytes{1024});
  EXPECT_EQ(rounded_size(Bytes{1200}, with_divisions(4)), Bytes{1536});
  EXPECT_EQ(rounded_size(Bytes{2049}, with_divisions(4)), Bytes{2560});
  EXPECT_EQ(rounded_size(Bytes{5000}, with_divisions(4)), Bytes{5120});
  EXPECT_EQ(rounded_size(Bytes{(3 << 20) + 1}, with_divisions(8)), Bytes{3'407'872});
  EXPECT_EQ(rounded_size(Bytes{1025ULL << 20}, with_divisions(4)), Bytes{1'342'177'280});
  EXPECT_EQ(rounded_size(Bytes{1537ULL << 20}, with_divisions(2)), Bytes{2ULL << 30});
}

TEST(ImportSettings, RoundsByGranulesWhereThereAreMoreDivisionsThanThese) {
  EXPECT_EQ(rounded_size(Bytes{2048}, with_divisions(4)), Bytes{2048});
  EXPECT_EQ(rounded_size(Bytes{5000}, with_divisions(std::uint64_t{1} << 63)), Bytes{5120});
}

TEST(ImportSettings, SayNothingOfWhatIsDefault) {
  EXPECT_EQ(settings_text({}, ""), "");
  EXPECT_EQ(settings_text({}, "address"), "best_fit_tie:address");
}

TEST(ImportSettings, CarryWhatDecidesWhereBlocksGo) {
  RecordedSettings settings;
  settings.text = "max_split_size_mb:999,max_non_split_rounding_mb:30,backend:native";
  settings.max_split_size = Bytes{128ULL << 20};
  settings.garbage_collection_threshold = 0.8;
  EXPECT_EQ(settings_text(settings, "segment"),
            "best_fit_tie:segment,max_split_size_mb:128,garbage_collection_threshold:0.8,"
            "max_non_split_rounding_mb:30");
  settings = {};
  settings.roundup_power2_divisions[1] = 8;
  settings.roundup_power2_divisions[15] = 2;
  EXPECT_EQ(settings_text(settings, ""),
            "roundup_power2_divisions:[1:0,2:8,4:0,8:0,16:0,32:0,64:0,128:0,256:0,512:0,1024:0,"
            "2048:0,4096:0,8192:0,16384:0,>:2]");
}

}  // namespace
}  // namespace cairn::testing
