#include "allocator/release.h"

#include "allocator/error_text.h"
#include "base/in_words.h"

namespace cairn {

Result<Done, Error> release_segments(Heap& heap, Driver& driver,
                                     const std::vector<const Segment*>& segments) {
  for (const Segment* segment : segments) {
    const auto freed = driver.free(heap.device(), segment->span.begin);
    if (!freed) {
      const std::string span = in_words(segment->span);
      return Failure{cuda_error(DriverCall::free, span, heap.device(), freed.error())};
    }
    heap.ledger().driver_freed();
    heap.remove_segment(*segment);
  }
  return Done{};
}

Result<Done, Error> release_cached_blocks(Heap& heap, Driver& driver) {
  heap.ledger().synced_all_streams();
  auto released = release_segments(heap, driver, heap.releasable());
  heap.drop_empty_shares();
  return released;
}

}  // namespace cairn
