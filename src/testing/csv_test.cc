#include "testing/csv.h"

#include <gtest/gtest.h>

namespace cairn::testing {
namespace {

TEST(Csv, GivesRowsWithTheirLines) {
  CsvReader reader("a,b\r\n1,-2\r\n\n0x1f,(nil)\n", "a,b");
  ASSERT_FALSE(reader.read_header());
  auto row = reader.next();
  ASSERT_TRUE(row);
  EXPECT_EQ(row->line(), 2U);
  EXPECT_EQ(row->number(0, "a"), 1U);
  EXPECT_EQ(row->signed_number(1, "b"), -2);
  row = reader.next();
  EXPECT_EQ(row->line(), 4U);
  EXPECT_EQ(row->pointer(0, "a"), 0x1fU);
  EXPECT_EQ(row->pointer(1, "b"), 0U);
  EXPECT_FALSE(row->error());
  EXPECT_FALSE(reader.next());
}

TEST(Csv, NamesLineAndFieldOfTheFirstFault) {
  CsvReader reader("a,b\nx,\x01y\n1\n1,2,3\n", "a,b");
  ASSERT_FALSE(reader.read_header());
  auto row = reader.next();
  EXPECT_EQ(row->number(0, "a"), 0U);
  EXPECT_EQ(row->number(1, "b"), 0U);
  EXPECT_EQ(to_string(*row->error()), "line 2: a is 'x', not a whole number of 64 bits");
  EXPECT_EQ(to_string(*reader.next()->error()),
            "line 3: the row has not the 2 fields of the header");
  EXPECT_EQ(to_string(*reader.next()->error()),
            "line 4: the row has not the 2 fields of the header");
}

TEST(Csv, RefusesAnotherHeader) {
  EXPECT_EQ(to_string(*CsvReader("b,a\n", "a,b").read_header()),
            "line 1: the header is 'b,a', not 'a,b'");
  EXPECT_EQ(to_string(*CsvReader("", "a,b").read_header()),
            "line 1: the header is the end of the file, not 'a,b'");
}

TEST(Csv, NumbersAreWholeAndFit) {
  EXPECT_EQ(parse_number("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_FALSE(parse_number("18446744073709551616"));
  EXPECT_FALSE(parse_number("-1"));
  EXPECT_FALSE(parse_number("1 "));
  EXPECT_FALSE(parse_number(""));
}

}  // namespace
}  // namespace cairn::testing
