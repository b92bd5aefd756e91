#include "arena.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace {

using namespace cairn::exhaust;

struct Things {
  std::map<int, std::string> names;
  std::vector<int> many = std::vector<int>(100000);
};

TEST(Arena, TakesObjectsBack) {
  arena::enter();
  arena::clear();
  auto* const things = new Things;
  things->names[1] = "a name that is longer than a string holds by itself";
  arena::leave();
  arena::set_base();
  arena::Image first;
  first.save();

  arena::enter();
  things->names.erase(1);
  things->names[2] = "another name that is longer than a string holds";
  things->many[70000] = 7;
  arena::leave();
  arena::Image second;
  second.save();
  EXPECT_LT(arena::bytes_in_images(), arena::bytes_used() / 10);

  first.restore();
  EXPECT_EQ(things->names.size(), 1u);
  EXPECT_EQ(things->names.at(1), "a name that is longer than a string holds by itself");
  EXPECT_EQ(things->many[70000], 0);

  things->many[3] = 3;  // Unlike what any image has seen to change.
  second.restore();
  EXPECT_EQ(things->names.size(), 1u);
  EXPECT_EQ(things->names.at(2), "another name that is longer than a string holds");
  EXPECT_EQ(things->many[70000], 7);
  EXPECT_EQ(things->many[3], 0);

  things->many[3] = 3;
  first.restore();
  EXPECT_EQ(things->many[3], 0);
  EXPECT_EQ(things->names.count(1), 1u);
}

TEST(Arena, GivesAlignedMemory) {
  struct alignas(128) Line {
    char bytes[128];
  };
  arena::enter();
  arena::clear();
  for (int i = 0; i < 10; ++i) {
    auto* const line = new Line;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(line) % 128, 0u);
    auto* const small = new char;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(small) % 16, 0u);
    if (i % 2 == 0) delete line;
    delete small;
  }
  arena::leave();
}

}  // namespace
