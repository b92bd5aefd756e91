// What the allocator did at one operation: the driver calls that it made, and how it ended.
#pragma once

#include <vector>

#include "base/units.h"
#include "cairn/errors.h"
#include "driver/recording_driver.h"

namespace cairn::testing {

struct Deed {
  std::vector<RecordedCall> calls;
  Error error;
  Address address{};  // Of an allocation that succeeded.
};

}  // namespace cairn::testing
