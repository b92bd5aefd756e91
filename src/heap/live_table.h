// From the address of a live block to the block: open addressing with linear probing, at most half
// full, and backward shift on removal, so that a look-up is one cache line as a rule.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "heap/block.h"

namespace cairn {

class LiveTable {
 public:
  LiveTable();

  // Makes sure that the next `more` calls of insert() allocate nothing. Throws std::bad_alloc, and
  // then nothing has changed.
  void reserve(std::size_t more) {
    while ((count_ + more) * 2 > mask_ + 1) [[unlikely]]
      grow();
  }
  // REQUIRES: room was reserved; no entry has the block's address.
  void insert(Block& block);
  // The block at this address, or null.
  Block* find(Address address) const { return block_in(slot_of(address)); }
  // The slot of the block at this address; an empty one if there is none.
  std::size_t slot_of(Address address) const {
    const Slot* const slots = slots_.data();
    std::size_t i = home(address);
    while (slots[i].block != nullptr && slots[i].address != address) i = next(i);
    return i;
  }
  Block* block_in(std::size_t slot) const { return slots_[slot].block; }
  // REQUIRES: the slot is not empty.
  void erase_slot(std::size_t slot);
  // REQUIRES: the block is in the table.
  void erase(const Block& block);

  std::size_t size() const { return count_; }

  // For checkers: slot i of capacity() slots, null where it is empty.
  std::size_t capacity() const { return slots_.size(); }
  const Block* slot(std::size_t i) const { return slots_[i].block; }
  Address slot_address(std::size_t i) const { return slots_[i].address; }

 private:
  struct Slot {
    Address address;
    Block* block = nullptr;
  };

  // Fibonacci hashing of the address in granules.
  std::size_t home(Address address) const {
    return static_cast<std::size_t>(
        (address.value / block_granularity.count) * 0x9e3779b97f4a7c15u >> shift_);
  }
  std::size_t next(std::size_t i) const { return (i + 1) & mask_; }
  void place(Block& block);
  void grow();

  std::vector<Slot> slots_;  // A power of two of them.
  std::size_t mask_;         // Their number less one.
  unsigned shift_;           // 64 - log2 of their number.
  std::size_t count_ = 0;
};

}  // namespace cairn
