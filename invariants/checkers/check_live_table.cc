#include <algorithm>
#include <string>
#include <vector>

#include "heap/live_table.h"
#include "invariants/checkers/checkers.h"

namespace cairn::invariants {

void check(const LiveTable& table, Cost dearest) {
  if (dearest < Cost::structure) return;
  std::vector<Address> addresses;
  for (std::size_t i = 0; i < table.capacity(); ++i) {
    const Block* block = table.slot(i);
    if (block == nullptr) continue;
    addresses.push_back(table.slot_address(i));
    expect(table.find(table.slot_address(i)) == block, live_table_sound,
           [&] { return "slot " + std::to_string(i) + " cannot be found from its address"; });
  }
  const std::size_t count = addresses.size();
  expect(count == table.size() && count * 2 <= table.capacity(), live_table_sound, [&] {
    return std::to_string(count) + " entries, counted as " + std::to_string(table.size());
  });
  std::sort(addresses.begin(), addresses.end());
  expect(std::adjacent_find(addresses.begin(), addresses.end()) == addresses.end(),
         live_table_sound, [] { return "two entries have one address"; });
}

}  // namespace cairn::invariants
