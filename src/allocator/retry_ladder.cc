#include "allocator/retry_ladder.h"

#include "allocator/error_text.h"
#include "allocator/release.h"

namespace cairn {

Result<Address, Error> RetryLadder::climb() {
  const Bytes size = heap_.segment_size(request_);
  for (const Rung rung :
       {&RetryLadder::ask_first, &RetryLadder::release_oversize, &RetryLadder::release_all}) {
    const Room room = (this->*rung)();
    if (!room) return Failure{room.error()};
    if (!*room) continue;
    heap_.reserve_segment(request_);
    const auto segment = driver_.malloc(heap_.device(), size);
    if (segment) return hand_out(*segment, size);
    if (segment.error() != CudaStatus::out_of_memory) {
      return Failure{
          cuda_error(DriverCall::malloc, in_words(size), heap_.device(), segment.error())};
    }
  }
  return Failure{fail()};
}

RetryLadder::Room RetryLadder::ask_first() { return true; }

RetryLadder::Room RetryLadder::release_oversize() {
  const Heap::OversizeRelease oversize = heap_.oversize_releasable(request_);
  const auto released = release_segments(heap_, driver_, oversize.segments);
  if (!released) return Failure{released.error()};
  return oversize.is_enough;
}

RetryLadder::Room RetryLadder::release_all() {
  const auto released = release_cached_blocks(heap_, driver_);
  if (!released) return Failure{released.error()};
  heap_.ledger().retried();
  return true;
}

Result<Address, Error> RetryLadder::hand_out(Address segment, Bytes size) {
  const Span span{segment, size};
  if (!heap_.can_add(span)) return Failure{impossible_segment(heap_.device(), span)};
  heap_.ledger().driver_allocated();
  const Block* block = heap_.allocate_in_new_segment(request_, span);
  if (block == nullptr) {
    return Failure{misaligned_segment(heap_.device(), span, request_.alignment)};
  }
  return block->ptr;
}

Error RetryLadder::fail() {
  const auto memory = driver_.mem_info(heap_.device());
  heap_.ledger().ran_out_of_memory();
  return out_of_memory(heap_, request_, memory);
}

}  // namespace cairn
