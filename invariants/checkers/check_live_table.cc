#include <string>

#include "heap/live_table.h"
#include "invariants/checkers/checkers.h"

namespace cairn::invariants {
namespace {

// Entries of one address have one home, so they stand in one run of filled slots.
bool stands_again_in_its_run(const LiveTable& table, std::size_t slot) {
  const std::size_t last = table.capacity() - 1;
  for (std::size_t i = (slot + 1) & last; table.slot(i) != nullptr && i != slot;
       i = (i + 1) & last) {
    if (table.slot_address(i) == table.slot_address(slot)) return true;
  }
  return false;
}

}  // namespace

void check(const LiveTable& table, Cost dearest) {
  if (dearest < Cost::structure) return;
  std::size_t count = 0;
  for (std::size_t i = 0; i < table.capacity(); ++i) {
    const Block* block = table.slot(i);
    if (block == nullptr) continue;
    ++count;
    expect(table.find(table.slot_address(i)) == block, live_table_sound,
           [&] { return "slot " + std::to_string(i) + " cannot be found from its address"; });
    expect(!stands_again_in_its_run(table, i), live_table_sound,
           [&] { return "slot " + std::to_string(i) + " has the address of another"; });
  }
  expect(count == table.size() && count * 2 <= table.capacity(), live_table_sound, [&] {
    return std::to_string(count) + " entries, counted as " + std::to_string(table.size());
  });
}

}  // namespace cairn::invariants
