// The last request that failed for want of memory. PyTorch keeps only the words of a failure; its
// quantities can be asked for here. Any function from any thread.
#pragma once

#include "cairn/errors.h"

namespace cairn::python {

// From now on failures of default_allocator() are kept. Throws as that does.
void watch_failures();

// The last one; its code is none where there was none since the watch began, or the last forget().
Error last_failure();
void forget_last_failure();

}  // namespace cairn::python
