// What the program holds of Cairn's memory, by address.
//
// Thread safety: all members.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "preload/device_service.h"

namespace cairn::preload {

struct LiveBlock {
  void* pointer = nullptr;
  DeviceService* service = nullptr;
};

class LiveBlocks {
  using Blocks = std::map<std::uintptr_t, LiveBlock>;

 public:
  // A block that is about to be freed: nobody else can free it. If it ends before the free is done,
  // the program holds the block as before; that needs no memory, and so cannot fail.
  class Claim {
   public:
    Claim(LiveBlocks& of, Blocks::node_type node) : of_(of), node_(std::move(node)) {}
    ~Claim();
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

    explicit operator bool() const { return !node_.empty(); }
    // REQUIRES: there is one.
    const LiveBlock& operator*() const { return node_.mapped(); }
    const LiveBlock* operator->() const { return &node_.mapped(); }
    // The block is freed, or will be without the program.
    void settle() noexcept { node_ = {}; }

   private:
    LiveBlocks& of_;
    Blocks::node_type node_;
  };

  // False: the host has no memory.
  bool add(const LiveBlock& block) noexcept;
  // The block that begins there; none where none does.
  Claim claim(const void* pointer) noexcept;
  // Forgets those of that service.
  void drop(const DeviceService* service) noexcept;

 private:
  static std::uintptr_t key(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
  }

  std::mutex mutex_;
  Blocks blocks_;
};

}  // namespace cairn::preload
