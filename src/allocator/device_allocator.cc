#include "allocator/device_allocator.h"

#include "allocator/error_text.h"
#include "allocator/release.h"
#include "allocator/retry_ladder.h"

namespace cairn {

DeviceAllocator::DeviceAllocator(DeviceIndex device, const Options& options, Driver& driver)
    : driver_(driver), heap_(device, options) {}

DeviceAllocator::~DeviceAllocator() {
  const auto heap = heap_.lock();
  for (const auto& [address, segment] : heap->segments()) {
    static_cast<void>(driver_.free(heap->device(), address));
  }
}

Result<Address, Error> DeviceAllocator::allocate(const HeapRequest& request) {
  const auto heap = heap_.lock();
  if (const Block* block = heap->allocate(request)) return block->ptr;
  return RetryLadder(*heap, driver_, request).climb();
}

Result<bool, Error> DeviceAllocator::free(Address address, const FreeCheck* check) {
  const auto heap = heap_.lock();
  Block* block = heap->find_live(address);
  if (block == nullptr) {
    const Segment* segment = heap->segment_at(address);
    if (segment == nullptr) return false;
    return Failure{not_live(*heap, *segment, address)};
  }
  if (check != nullptr && check->size != block->requested_size)
    return Failure{wrong_size(*block, check->size)};
  if (check != nullptr && check->stream != block->stream)
    return Failure{wrong_stream(*block, check->stream)};
  heap->free(*block);
  return true;
}

Result<Done, Error> DeviceAllocator::empty_cache() {
  const auto heap = heap_.lock();
  return release_cached_blocks(*heap, driver_);
}

}  // namespace cairn
