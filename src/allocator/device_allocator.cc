#include "allocator/device_allocator.h"

#include <cmath>
#include <cstdint>

#include "allocator/error_text.h"
#include "allocator/event_progress.h"
#include "allocator/release.h"
#include "allocator/retry_ladder.h"
#include "invariants/catalogue/hook.h"

namespace cairn {
namespace {

// `part` of the memory, as `rounding` makes it whole.
template <class Rounding>
Bytes part_of(Bytes memory, double part, Rounding rounding) {
  return Bytes{static_cast<std::uint64_t>(rounding(part * static_cast<double>(memory.count)))};
}

}  // namespace

DeviceAllocator::DeviceAllocator(DeviceIndex device, const Options& options, const Shared& shared)
    : device_(device),
      shared_(shared),
      total_(shared.driver.total_memory(device)),
      state_(device, options),
      lane_hints_(state_.lock()->heap.lane_hints()) {
  set_policy(*state_.lock(), options);
  set_memory_fraction(options.per_process_memory_fraction);
}

DeviceAllocator::~DeviceAllocator() {
  const auto state = state_.lock();
  if (!state->lost) give_everything_back(context(*state));
}

Result<Done, Error> DeviceAllocator::be_ready(DeviceState& state) {
  if (!state.lost && !state.queues.are_empty()) {
    const auto looked = look_at_events(state, shared_.driver);
    if (state.lost) {
      CAIRN_PROBE("allocate.lost_by_a_look");
      return Failure{looked.error()};
    }
  }
  if (state.lost) {
    CAIRN_PROBE("allocate.lost");
    return Failure{device_is_lost(state)};
  }
  return Done{};
}

Result<Address, Error> DeviceAllocator::allocate(const HeapRequest& request) {
  RetryLadder ladder(request, shared_.callbacks);
  {
    const auto state = state_.lock();
    const auto ready = be_ready(*state);
    if (!ready) {
      CAIRN_PROBE("allocate.not_ready");
      return Failure{ready.error()};
    }
    if (const Block* block = state->heap.allocate(request)) return block->ptr;
    ladder.climb(context(*state));
  }
  return climb_on(ladder);
}

// What is left to do of an allocation once it needs something that is done without the lock.
Result<Address, Error> DeviceAllocator::climb_on(RetryLadder& ladder) {
  while (!ladder.is_over()) {
    try {
      ladder.act(device_, shared_.driver);
    } catch (...) {
      CAIRN_PROBE("climb_on.no_host_memory");
      ladder.withdraw(*state_.lock());
      throw;
    }
    const auto state = state_.lock();
    ladder.climb(context(*state));
  }
  Result<Address, Error>& result = ladder.result();
  const bool is_short = result.failed() && result.error().memory != nullptr;
  if (!is_short) return std::move(result);
  Error error = result.error();
  shared_.callbacks.tell(error);
  CAIRN_PROBE("climb_on.out_of_memory");
  return Failure{std::move(error)};
}

Result<Block*, Error> DeviceAllocator::find_live(DeviceState& state, Address address) {
  Block* block = state.heap.find_live(address);
  if (block != nullptr) return block;
  const Segment* segment = state.heap.segment_at(address);
  if (segment == nullptr) return block;
  CAIRN_PROBE("find_live.not_live");
  return Failure{not_live(state.heap, *segment, address)};
}

Result<bool, Error> DeviceAllocator::free(Address address, const BlockCheck* check) {
  const auto state = state_.lock();
  const auto found = find_live(*state, address);
  if (!found) {
    CAIRN_PROBE("free.not_live");
    return Failure{found.error()};
  }
  Block* block = *found;
  if (block == nullptr) return false;
  if (check != nullptr) {
    if (check->size != block->requested_size) {
      CAIRN_PROBE("free.wrong_size");
      return Failure{wrong_size(*block, check->size)};
    }
    if (check->stream != block->stream) {
      CAIRN_PROBE("free.wrong_stream");
      return Failure{wrong_stream(*block, check->stream)};
    }
  }
  return free_with_uses(*state, *block);
}

Result<bool, Error> DeviceAllocator::free_with_uses(DeviceState& state, Block& block) {
  Fencing fencing(context(state));
  for (const StreamKey& stream : state.heap.uses(block)) {
    if (state.lost) {
      CAIRN_PROBE("free.lost");
      break;
    }
    const auto fenced = fencing.fence(stream, &block);
    if (!fenced) {
      CAIRN_PROBE("free.not_fenced");
      return Failure{fenced.error()};
    }
  }
  const std::int32_t events = fencing.event_count();
  if (events == 0) {
    state.heap.free(block);
    return true;
  }
  state.heap.free_after_events(block, events);
  fencing.commit();
  return true;
}

Result<bool, Error> DeviceAllocator::holds(Address address) {
  const auto state = state_.lock();
  const auto block = find_live(*state, address);
  if (!block) {
    CAIRN_PROBE("holds.not_live");
    return Failure{block.error()};
  }
  return *block != nullptr;
}

Result<bool, Error> DeviceAllocator::record_stream(Address address, const UserStream& stream) {
  const auto state = state_.lock();
  const auto block = find_live(*state, address);
  if (!block) {
    CAIRN_PROBE("record_stream.not_live");
    return Failure{block.error()};
  }
  if (*block == nullptr) return false;
  state->heap.add_use(**block, key_of(stream));
  return true;
}

Result<bool, Error> DeviceAllocator::free_on(Address address, const UserStream& stream) {
  const auto state = state_.lock();
  const auto block = find_live(*state, address);
  if (!block) {
    CAIRN_PROBE("free_on.not_live");
    return Failure{block.error()};
  }
  if (*block == nullptr) return false;
  const bool is_new = state->heap.add_use(**block, key_of(stream));
  const auto take_back_use = [&] {
    if (is_new) state->heap.remove_use(**block, key_of(stream));
  };
  try {
    auto freed = free_with_uses(*state, **block);
    if (!freed) {
      CAIRN_PROBE("free_on.not_freed");
      take_back_use();
    }
    return freed;
  } catch (...) {
    CAIRN_PROBE("free_on.no_host_memory");
    take_back_use();
    throw;
  }
}

Result<Done, Error> DeviceAllocator::forget_stream(StreamKey stream) {
  const auto state = state_.lock();
  const bool is_pending = state->queues.all().contains(stream);
  if (!is_pending && !state->heap.knows(stream)) return Done{};
  Fencing fencing(context(*state));
  if (!state->lost) {
    const auto fenced = fencing.fence(stream, nullptr);
    if (!fenced) {
      CAIRN_PROBE("forget_stream.not_fenced");
      return fenced;
    }
  }
  const StreamKey retired{stream.device, retired_stream(state->streams_retired + 1)};
  state->heap.retire_stream(stream, retired.id);
  ++state->streams_retired;
  fencing.commit();
  state->queues.rename(stream, retired);
  return Done{};
}

Result<Done, Error> DeviceAllocator::process_events() {
  const auto state = state_.lock();
  if (state->lost) {
    CAIRN_PROBE("process_events.lost");
    return Failure{device_is_lost(*state)};
  }
  return look_at_events(*state, shared_.driver);
}

Result<Done, Error> DeviceAllocator::empty_cache() {
  const auto state = state_.lock();
  if (state->lost) {
    CAIRN_PROBE("empty_cache.lost");
    return Failure{device_is_lost(*state)};
  }
  auto waited = wait_for_all_events(*state, shared_.driver);
  if (!waited) {
    CAIRN_PROBE("empty_cache.not_waited");
    return waited;
  }
  return release_all_free(context(*state));
}

DeviceStats DeviceAllocator::stats() const { return state_.lock()->heap.ledger().read(); }

std::optional<Error> DeviceAllocator::lost() const {
  const auto state = state_.lock();
  if (!state->lost) return std::nullopt;
  return device_is_lost(*state);
}

void DeviceAllocator::set_memory_fraction(double fraction) {
  const auto state = state_.lock();
  state->limit.reset();
  if (fraction < 1.0) {
    state->limit = part_of(total_, fraction, [](double bytes) { return std::round(bytes); });
  }
  state->heap.set_limited(state->limit.has_value());
}

double DeviceAllocator::memory_fraction() const {
  const auto limit = state_.lock()->limit;
  if (!limit || total_ == Bytes{0}) return 1.0;
  return static_cast<double>(limit->count) / static_cast<double>(total_.count);
}

void DeviceAllocator::reconfigure(const Options& options) {
  const auto state = state_.lock();
  state->heap.reconfigure(options);
  set_policy(*state, options);
}

void DeviceAllocator::set_policy(DeviceState& state, const Options& options) {
  state.rejects = options.throw_on_cudamalloc_oom;
  state.rejected_above = part_of(total_, options.per_process_memory_fraction,
                                 [](double bytes) { return std::trunc(bytes); });
  state.asks_unlocked = options.release_lock_on_cudamalloc;
}

}  // namespace cairn
