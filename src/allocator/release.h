// Giving cached memory back to the driver, once the work of its stream was waited for. One segment
// that the driver refuses stays in the heap, and so do those that would have come after it. What
// the heap keeps for each stream goes with the last segment of the stream.
//
// The lock of the state is held. REQUIRES: the device is not lost when it begins.
#pragma once

#include <vector>

#include "allocator/fencing.h"
#include "base/result.h"
#include "cairn/errors.h"
#include "heap/heap.h"

namespace cairn {

// Gives back these segments, in order. REQUIRES: nobody uses them.
Result<Done, Error> release_segments(const DeviceContext& context,
                                     const std::vector<const Segment*>& segments);

// Gives back every segment that nobody uses (PyTorch: release_cached_blocks, which waits for all
// events first: here the caller does).
Result<Done, Error> release_all_free(const DeviceContext& context);

// At the end of the allocator: waits for events and streams, gives every segment back, and destroys
// every event. What fails is passed over, and a device that is lost is asked nothing more.
void give_everything_back(const DeviceContext& context) noexcept;

}  // namespace cairn
