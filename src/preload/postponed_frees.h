// Frees for which the host must wait, and may not while a stream is captured. They are made up for
// by the first call after that.
//
// Thread safety: all members.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "preload/live_blocks.h"

namespace cairn::preload {

class PostponedFrees {
 public:
  // False: the host has no memory.
  bool add(const LiveBlock& block) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      blocks_.push_back(block);
    } catch (const std::bad_alloc&) {
      return false;
    }
    ++asked_;
    return true;
  }
  // A stream was destroyed and Cairn could not be told: all work is to be waited for, be there
  // blocks or not.
  void add_wait() noexcept { ++asked_; }
  bool is_due() const noexcept { return asked_ != done_; }

  // Calls wait(), then give_back(block) for each. False: it is due and wait() gave false. Who comes
  // meanwhile waits too; what is asked for meanwhile is made up for by the next call.
  template <class Wait, class GiveBack>
  bool settle(Wait&& wait, GiveBack&& give_back) {
    if (!is_due()) return true;
    const std::lock_guard lock(mutex_);
    const std::uint64_t asked = asked_;
    if (asked == done_) return true;
    if (!wait()) return false;
    for (const LiveBlock& block : std::exchange(blocks_, {})) give_back(block);
    done_ = asked;
    return true;
  }
  void drop(const DeviceService* service) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(blocks_, [&](const LiveBlock& block) { return block.service == service; });
  }

 private:
  std::mutex mutex_;
  std::vector<LiveBlock> blocks_;
  std::atomic<std::uint64_t> asked_{0};  // How often something was, and up to which it is done.
  std::atomic<std::uint64_t> done_{0};
};

}  // namespace cairn::preload
