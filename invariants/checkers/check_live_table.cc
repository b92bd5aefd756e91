#include <string>

#include "heap/live_table.h"
#include "invariants/checkers/checkers.h"

namespace cairn::invariants {

void check(const LiveTable& table, Cost dearest) {
  if (dearest < Cost::structure) return;
  std::size_t count = 0;
  for (std::size_t i = 0; i < table.capacity(); ++i) {
    const Block* block = table.slot(i);
    if (block == nullptr) continue;
    ++count;
    expect(table.find(table.slot_address(i)) == block, live_table_sound,
           [&] { return "slot " + std::to_string(i) + " cannot be found from its address"; });
  }
  expect(count == table.size() && count * 2 <= table.capacity(), live_table_sound, [&] {
    return std::to_string(count) + " entries, counted as " + std::to_string(table.size());
  });
}

}  // namespace cairn::invariants
