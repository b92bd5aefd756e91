// Programs that are related to another: the same application on a machine that differs where the
// allocator must not care, or one that says more of what must change nothing.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "relations.h"
#include "testing/dice.h"
#include "testing/program.h"

namespace cairn::proptests {

// The declared streams are made in another order, and so have each other's handles and ids.
testing::Program with_streams_in_another_order(testing::Program program, testing::Dice& dice);

// The threads are first seen in another order, and so have each other's numbers.
testing::Program with_threads_in_another_order(testing::Program program, testing::Dice& dice);

template <class Items>
void shuffle(Items& items, testing::Dice& dice) {
  for (std::size_t left = items.size(); left > 1; --left)
    std::swap(items[left - 1], items[dice.below(left)]);
}

// Without the statements that name blocks which were freed: what they mean depends on whether the
// address was given again.
testing::Program without_names_of_freed(const testing::Program& program);

enum class Order { kept, any };
// Each segment lies elsewhere. Order::kept: of those of one device that are there at a time, the
// one that was lower still is. REQUIRES: the log is the program's.
testing::Program with_segments_elsewhere(const testing::Program& program, const Log& log,
                                         Order order, testing::Dice& dice);

// Between the operations stand others that must change nothing; they have no line. REQUIRES: the
// log is the program's.
testing::Program with_idle_statements(const testing::Program& program, const Log& log,
                                      testing::Dice& dice);

// A block that is live when the program ends.
struct LiveBlock {
  std::string name;
  Bytes size;
  std::string stream;  // One that lives; s0 where its own does not, or is a thread's.
  DeviceIndex device = 0;
};
std::vector<LiveBlock> live_at_the_end(const testing::Program& program);

// Whether the settings of the declarations contain this text.
bool is_set(const testing::Program& program, const std::string& setting);

}  // namespace cairn::proptests
