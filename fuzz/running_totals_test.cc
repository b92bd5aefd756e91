#include "fuzz/running_totals.h"

#include <gtest/gtest.h>

#include <string>

#include "testing/import_two_thread.h"

namespace cairn::fuzz {
namespace {

std::string table(const std::string& rows) {
  return std::string(testing::two_thread_header) + "\n" + rows;
}

TEST(RunningTotals, AreThoseOfTheRowsFromTheFirstOneOn) {
  EXPECT_EQ(with_running_totals(table("1,7,4096,512,1000,0\n2,8,8192,256,9,0\n3,8,4096,-512,9,0")),
            table("1,7,4096,512,1000,0\n2,8,8192,256,1256,0\n3,8,4096,-512,744,0"));
}

TEST(RunningTotals, MakeATableWholeThatWasRefused) {
  const std::string refused = table("1,7,4096,512,512,0\n2,8,4096,-512,512,0\n");
  EXPECT_FALSE(testing::import_two_thread(refused));
  EXPECT_TRUE(testing::import_two_thread(with_running_totals(refused)));
}

TEST(RunningTotals, LeaveWhatIsNoRow) {
  for (const std::string text : {"", "\n\n", ",", "1,2,3", "1,2,3,x,5,6\n1,2,3,4,x,6", "a\r\nb"})
    EXPECT_EQ(with_running_totals(text), text);
}

}  // namespace
}  // namespace cairn::fuzz
