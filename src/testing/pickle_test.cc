#include "testing/pickle.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn::testing {
namespace {

using namespace std::string_literals;  // NOLINT
using Kind = Pickle::Kind;

std::string refusal(const std::string& file, const Pickle::Limits& limits = {}) {
  const auto pickle = Pickle::read(file, limits);
  return pickle ? "read" : to_string(pickle.error());
}

// What pickle.dumps({"a": [1, -2, 2.5, None, True, False], "t": (300, b"x")}, protocol) gives.
const std::string protocol_2 =
    "\x80\x02}q\x00(X\x01\x00\x00\x00"
    "aq\x01]q\x02(K\x01J\xfe\xff\xff\xffG@\x04\x00\x00\x00\x00\x00"
    "\x00N\x88\x89"
    "eX\x01\x00\x00\x00tq\x03M,\x01U\x01x\x86q\x04u."s;
const std::string protocol_5 =
    "\x80\x05\x95-\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01"
    "a\x94]\x94(K\x01J\xfe\xff\xff\xffG@"
    "\x04\x00\x00\x00\x00\x00\x00N\x88\x89"
    "e\x8c\x01t\x94M,\x01"
    "C\x01x\x94\x86\x94u."s;

TEST(Pickle, ReadsWhatOldAndNewProtocolsWrite) {
  for (const std::string& file : {protocol_2, protocol_5}) {
    const auto pickle = Pickle::read(file);
    ASSERT_TRUE(pickle) << to_string(pickle.error());
    ASSERT_EQ(pickle->root().kind, Kind::dict);
    const auto entries = pickle->entries(pickle->root());
    ASSERT_EQ(entries.size(), 4U);
    EXPECT_EQ(pickle->text(entries[0]), "a");
    const auto list = pickle->items(entries[1]);
    ASSERT_EQ(list.size(), 6U);
    EXPECT_EQ(Pickle::integer(list[0]), 1);
    EXPECT_EQ(Pickle::integer(list[1]), -2);
    EXPECT_EQ(Pickle::real(list[2]), 2.5);
    EXPECT_EQ(list[3].kind, Kind::none);
    EXPECT_TRUE(Pickle::boolean(list[4]));
    EXPECT_FALSE(Pickle::boolean(list[5]));
    const auto tuple = pickle->items(entries[3]);
    EXPECT_EQ(Pickle::integer(tuple[0]), 300);
    EXPECT_EQ(pickle->text(tuple[1]), "x");
  }
}

TEST(Pickle, EveryWidthOfWholeNumberKeepsItsValue) {
  const auto read = [](const std::string& opcode) {
    const auto pickle = Pickle::read("\x80\x02"s + opcode + ".");
    return pickle ? pickle->root() : Pickle::Value{};
  };
  EXPECT_EQ(Pickle::integer(read("\x8a\x00"s)), 0);
  EXPECT_EQ(Pickle::integer(read("\x8a\x01\xff"s)), -1);
  EXPECT_EQ(Pickle::integer(read("\x8a\x05\x00\x00\x00\x00\x7f"s)), 0x7f00000000);
  EXPECT_EQ(Pickle::integer(read("\x8a\x02\x00\x80"s)), -32768);
  EXPECT_EQ(Pickle::integer(read("\x8b\x03\x00\x00\x00\x01\x02\x03"s)), 0x030201);
  EXPECT_EQ(Pickle::integer(read("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\xff"s)), -1);
  EXPECT_EQ(read("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00"s).kind, Kind::huge_integer);
  EXPECT_EQ(read("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01"s).kind, Kind::huge_integer);
}

TEST(Pickle, RefusesWhatWouldCallOrLoadByNameAndPlace) {
  const std::pair<std::string, std::string> opcodes[] = {{"cos\nsystem\n", "GLOBAL"},
                                                         {"\x93", "STACK_GLOBAL"},
                                                         {"R", "REDUCE"},
                                                         {"b", "BUILD"},
                                                         {"i", "INST"},
                                                         {"o", "OBJ"},
                                                         {"\x81", "NEWOBJ"},
                                                         {"\x92", "NEWOBJ_EX"},
                                                         {"\x82\x01", "EXT1"},
                                                         {"\x83\x01\x01", "EXT2"},
                                                         {"\x84\x01\x01\x01\x01", "EXT4"},
                                                         {"P1\n", "PERSID"},
                                                         {"Q", "BINPERSID"},
                                                         {"\x97", "NEXT_BUFFER"}};
  for (const auto& [code, name] : opcodes) {
    EXPECT_EQ(
        refusal("\x80\x02N"s + code + "."),
        "byte 3: the opcode " + name + " is refused: it would import, call or load something");
  }
  EXPECT_EQ(refusal("\x80\x04\x8f."s), "byte 2: the opcode 0x8f is not one for plain data");
}

TEST(Pickle, RefusesAFileThatIsCutAnywhere) {
  for (const std::string& file : {protocol_2, protocol_5}) {
    for (std::size_t length = 0; length < file.size(); ++length) {
      EXPECT_NE(refusal(file.substr(0, length)), "read") << length;
    }
    EXPECT_EQ(refusal(file + "x"),
              "byte " + std::to_string(file.size() - 1) + ": 1 bytes follow the end of the pickle");
  }
}

TEST(Pickle, BelievesNoLengthThatTheFileCannotHold) {
  EXPECT_EQ(refusal("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff."s),
            "byte 2: the file ends within BINUNICODE8: 18446744073709551615 bytes are announced, "
            "1 are left");
  EXPECT_EQ(refusal("\x80\x04\x8b\xff\xff\xff\xff."s),
            "byte 2: the file ends within LONG4: 4294967295 bytes are announced, 1 are left");
  EXPECT_EQ(refusal("\x80\x04\x95\xff\x00\x00\x00\x00\x00\x00\x00N."s),
            "byte 2: a frame of 255 bytes, but 2 are left");
  EXPECT_EQ(refusal("\x80\x02Nr\xff\xff\xff\xff."s), "read");  // A memo index is a key, not a size.
}

TEST(Pickle, RefusesAStackThatDoesNotFit) {
  EXPECT_EQ(refusal("\x80\x02."s),
            "byte 2: STOP with 0 values and 0 marks on the stack, not with one value");
  EXPECT_EQ(refusal("\x80\x02(N."s),
            "byte 4: STOP with 1 values and 1 marks on the stack, not with one value");
  EXPECT_EQ(refusal("\x80\x02Ne."s), "byte 3: APPENDS finds no mark on the stack");
  EXPECT_EQ(refusal("\x80\x02N(K"s),
            "byte 4: the file ends within BININT1: 1 bytes are announced, 0 are left");
  EXPECT_EQ(refusal("\x80\x02](\x85."s), "byte 4: TUPLE1 finds too few values on the stack");
  EXPECT_EQ(refusal("\x80\x02}N"
                    "a."s),
            "byte 4: APPEND finds no list on the stack");
  EXPECT_EQ(refusal("\x80\x02](N"
                    "0"
                    "0"
                    "2."s),
            "byte 8: STOP with 2 values and 0 marks on the "
            "stack, not with one value");
  EXPECT_EQ(refusal("\x80\x02}(Nu."s), "byte 5: a key without a value");
  EXPECT_EQ(refusal("\x80\x02h\x07."s), "byte 2: memo entry 7 was never stored");
  EXPECT_EQ(refusal("\x80\x01N."s), "byte 0: pickle protocol 1; 2 to 5 are known");
  EXPECT_EQ(refusal("PK\x03\x04"s),
            "byte 0: this is not a pickle of protocol 2 or later: it does not begin with PROTO");
}

TEST(Pickle, NestsOnlySoDeepAndHoldsOnlySoMuch) {
  const std::string deep = "\x80\x02"s + std::string(1001, '(') + ".";
  EXPECT_EQ(refusal(deep), "byte 1002: nested more than 1000 deep, the limit");
  Pickle::Limits limits;
  limits.values = 3;
  EXPECT_EQ(refusal("\x80\x02(NNNt."s, limits), "byte 6: more than 3 values, the limit");
  EXPECT_EQ(refusal("\x80\x02]\x94\x94\x94\x94."s, limits),
            "byte 6: more than 3 values in the memo, the limit");
}

TEST(Pickle, AListMayHoldItself) {
  const auto pickle = Pickle::read(
      "\x80\x02]q\x00h\x00"
      "a."s);
  ASSERT_TRUE(pickle);
  const auto items = pickle->items(pickle->root());
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].bits, pickle->root().bits);
}

}  // namespace
}  // namespace cairn::testing
