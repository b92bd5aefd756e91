// Giving cached memory back to the driver. One segment that the driver refuses stays in the heap,
// and so do those that would have come after it.
#pragma once

#include <vector>

#include "base/result.h"
#include "cairn/errors.h"
#include "driver/driver.h"
#include "heap/heap.h"

namespace cairn {

// Gives back these segments, in order. REQUIRES: nobody uses them.
Result<Done, Error> release_segments(Heap& heap, Driver& driver,
                                     const std::vector<const Segment*>& segments);

// Gives back every segment that nobody uses (PyTorch: release_cached_blocks).
Result<Done, Error> release_cached_blocks(Heap& heap, Driver& driver);

}  // namespace cairn
