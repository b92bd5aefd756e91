// The words of failures: what happened, to which pointer, block, stream or device, and what to do.
#pragma once

#include <string>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/errors.h"
#include "driver/driver.h"
#include "driver/driver_call.h"
#include "heap/heap.h"

namespace cairn {

// "1.50 MiB", "512 bytes": two decimals of the largest unit that is not above the size.
std::string in_words(Bytes size);

// `what` the call was about: a size, or a span.
Error cuda_error(DriverCall call, const std::string& what, DeviceIndex device, CudaStatus status);

// The request found no memory, after all was tried. `memory` is what the driver says, if it does.
Error out_of_memory(const Heap& heap, const HeapRequest& request,
                    const DriverResult<MemoryInfo>& memory);
// 2^60 bytes and more: refused without a look.
Error larger_than_possible(Bytes requested);

// The driver gave what cannot be memory of its own: null, not granular, or overlapping a segment.
Error impossible_segment(DeviceIndex device, Span span);

Error misaligned_segment(DeviceIndex device, Span span, Bytes alignment);

Error no_such_device(DeviceIndex device, int device_count);
Error bad_alignment(Bytes alignment);

// Why `pointer` is not a live block of this heap, whose segment holds it.
Error not_live(const Heap& heap, const Segment& segment, Address pointer);
// No device's segment holds it.
Error foreign_pointer(Address pointer);

// A checked free whose size or stream is not the block's.
Error wrong_size(const Block& block, Bytes size);
Error wrong_stream(const Block& block, StreamId stream);

}  // namespace cairn
