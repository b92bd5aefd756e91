// Slots for objects of one type that never move: a pointer to a node stays good until the node is
// given back, whatever else is made. Freed slots are used again, last first. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace cairn {

template <class T>
class NodePool {
  static_assert(std::is_trivially_destructible_v<T>, "nodes need not be given back");

 public:
  NodePool() = default;
  NodePool(const NodePool&) = delete;
  NodePool& operator=(const NodePool&) = delete;

  // Makes sure that the next `count` calls of make() allocate nothing and so cannot fail.
  // Throws std::bad_alloc, and then nothing has changed.
  void reserve(std::size_t count) {
    while (free_count_ < count) [[unlikely]]
      grow();
  }

  template <class... Args>
  T& make(Args&&... args) {
    if (free_ == nullptr) [[unlikely]]
      grow();
    Slot* slot = free_;
    free_ = slot->next_free;
    --free_count_;
    return *::new (static_cast<void*>(slot->storage)) T(std::forward<Args>(args)...);
  }

  // REQUIRES: `node` was made here and not given back since.
  void give_back(T& node) {
    auto* slot = reinterpret_cast<Slot*>(&node);
    slot->next_free = free_;
    free_ = slot;
    ++free_count_;
  }

 private:
  union Slot {
    Slot* next_free;
    alignas(T) std::byte storage[sizeof(T)];
  };
  static constexpr std::size_t slots_per_chunk = 256;
  using Chunk = std::array<Slot, slots_per_chunk>;

  [[gnu::noinline]] void grow() {
    auto chunk = std::make_unique<Chunk>();
    Chunk& slots = *chunk;
    chunks_.push_back(std::move(chunk));
    for (std::size_t i = slots_per_chunk; i-- > 0;) {
      slots[i].next_free = free_;
      free_ = &slots[i];
    }
    free_count_ += slots_per_chunk;
  }

  std::vector<std::unique_ptr<Chunk>> chunks_;
  Slot* free_ = nullptr;
  std::size_t free_count_ = 0;
};

}  // namespace cairn
