#include "heap/live_table.h"

#include "invariants/catalogue/hook.h"

namespace cairn {
namespace {

constexpr std::size_t initial_capacity_log2 = 6;

}  // namespace

LiveTable::LiveTable()
    : slots_(std::size_t{1} << initial_capacity_log2),
      mask_(slots_.size() - 1),
      shift_(64 - initial_capacity_log2) {}

void LiveTable::insert(Block& block) {
  CAIRN_AUDIT(*this);
  CAIRN_HOLDS(live_table_sound, (count_ + 1) * 2 <= slots_.size());
  place(block);
  ++count_;
}

void LiveTable::erase(const Block& block) {
  std::size_t slot = home(block.ptr);
  while (slots_[slot].block != &block) slot = next(slot);
  erase_slot(slot);
}

void LiveTable::erase_slot(std::size_t slot) {
  CAIRN_AUDIT(*this);
  Slot* const slots = slots_.data();
  std::size_t hole = slot;
  // Entries behind the hole move up, unless that would put them before their home.
  for (std::size_t i = next(hole); slots[i].block != nullptr; i = next(i)) {
    const std::size_t distance_home = (i - home(slots[i].address)) & mask_;
    const std::size_t distance_hole = (i - hole) & mask_;
    if (distance_home < distance_hole) continue;
    slots[hole] = slots[i];
    hole = i;
  }
  slots[hole] = {};
  --count_;
}

void LiveTable::place(Block& block) {
  std::size_t i = home(block.ptr);
  while (slots_[i].block != nullptr) i = next(i);
  slots_[i] = {block.ptr, &block};
}

void LiveTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  --shift_;
  for (const Slot& slot : old) {
    if (slot.block != nullptr) place(*slot.block);
  }
}

}  // namespace cairn
