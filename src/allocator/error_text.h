// The words of failures: what happened, to which pointer, block, stream or device, and what to do.
#pragma once

#include <string>

#include "allocator/device_state.h"
#include "base/ids.h"
#include "base/units.h"
#include "cairn/errors.h"
#include "driver/driver.h"
#include "driver/driver_call.h"
#include "heap/heap.h"

namespace cairn {

// "1.50 MiB", "512 bytes": two decimals of the largest unit that is not above the size.
std::string in_words(Bytes size);

// "stream 0x5000", "the legacy default stream", ...
std::string stream_in_words(StreamId stream);
std::string event_in_words(const PendingEvent& pending);

// `what` the call was about: a size, or a span.
Error cuda_error(DriverCall call, const std::string& what, DeviceIndex device, CudaStatus status);

// 2^60 bytes and more: refused without a look.
Error larger_than_possible(Bytes requested);

// The driver gave what cannot be memory of its own: null, not granular, or overlapping a segment.
Error impossible_segment(DeviceIndex device, Span span);

Error misaligned_segment(DeviceIndex device, Span span, Bytes alignment);

// The device failed for good earlier, and is asked nothing any more.
Error device_is_lost(const DeviceState& state);

Error no_such_device(DeviceIndex device, int device_count);
Error bad_alignment(Bytes alignment);
Error bad_fraction(double fraction);
// No stream has such a handle, or such an id.
Error impossible_stream(std::uint64_t handle);
// A default stream lives as long as its device, or its thread.
Error default_stream_does_not_end(StreamId stream);
// A setting that Cairn does not have yet, or that cannot change while it works.
Error unsupported_setting(const std::string& setting);
Error unchangeable_setting(const std::string& setting);

// Why `pointer` is not a live block of this heap, whose segment holds it, so that it cannot be
// freed, or used.
Error not_live(const Heap& heap, const Segment& segment, Address pointer);
// No device's segment holds it.
Error foreign_pointer(Address pointer);

// A checked free whose size or stream is not the block's.
Error wrong_size(const Block& block, Bytes size);
Error wrong_stream(const Block& block, StreamId stream);

}  // namespace cairn
