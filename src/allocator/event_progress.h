// What becomes of pending events: they are looked at, or waited for, and blocks whose last event is
// done become free.
//
// The lock of the state is held. REQUIRES of all: the device is not lost.
#pragma once

#include "allocator/device_state.h"
#include "base/result.h"
#include "cairn/errors.h"

namespace cairn {

// Asks of the first event of each queue, and on as long as they are done. Gives the first failure,
// after every queue had its turn; a device that is lost ends it, and is the failure.
Result<Done, Error> look_at_events(DeviceState& state, Driver& driver);

// Waits for all events, in order, up to the first failure.
Result<Done, Error> wait_for_all_events(DeviceState& state, Driver& driver);

// Waits for the events of one stream, which stay in their queue for the next look.
Result<Done, Error> wait_for_events_of(StreamKey stream, DeviceState& state, Driver& driver);

}  // namespace cairn
