// What may happen next in a state of a scope. An operation of the explorer is one call of the
// allocator, or one thing that the application or the environment does, perhaps with a driver call
// that fails in it; as statements of a Program it may take several lines.
//
// Not thread-safe, as a World.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "scopes.h"
#include "testing/program.h"
#include "testing/world.h"

namespace cairn::exhaust {

enum class Kind : std::uint8_t {
  alloc,    // size: its index; stream
  free,     // block
  use,      // block, stream
  free_on,  // block, stream
  work,     // block, stream; choice: how many of the ends that are due come before its own
  advance,  // To the next end of work.
  poll,
  empty,
  change  // choice: which
};

struct Choice {
  Kind kind = Kind::alloc;
  std::uint8_t block = 0;   // By name: a, b, ...
  std::uint8_t stream = 0;  // By number, from 0.
  std::uint8_t choice = 0;
  std::uint8_t fault = 0;  // 0: no call fails; else the fault of that place in the scope, from 1.
  std::uint8_t at = 0;     // Which call of that kind fails, from 1.
  std::uint8_t unused0 = 0;
  std::uint8_t unused1 = 0;
};
static_assert(sizeof(Choice) == 8);

inline constexpr std::size_t most_names = 6;

// Which names are live, and where.
struct Book {
  std::array<Address, most_names> where{};

  int free_name() const;  // The first that is not live; -1: all are.
};

// Where something may happen.
struct Situation {
  const Scope& scope;
  const testing::World& world;
  const std::vector<StreamId>& streams;  // s1, s2, ...
};

// All that may happen now, without failing calls; in an order that depends on the state alone.
std::vector<Choice> choices(const Situation& now, const Book& book);

// The statements that say it. REQUIRES: it is one of choices() now, perhaps with a fault.
std::vector<testing::Statement> statements_of(const Choice& choice, const Situation& now,
                                              const Book& book);

// Takes note of what a statement that succeeded has bound or freed.
void note(const testing::Statement& statement, const testing::World& world, Book& book);

}  // namespace cairn::exhaust
