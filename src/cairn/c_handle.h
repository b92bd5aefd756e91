// An Allocator of a C++ program, as the C API (cairn/cairn.h) takes it.
#pragma once

#include "cairn/allocator.h"
#include "cairn/cairn.h"
#include "cairn/export.h"

namespace cairn {

// A handle to `allocator`, which must outlive it. cairn_allocator_destroy() ends the handle alone.
CAIRN_EXPORT cairn_allocator* make_c_handle(Allocator& allocator);

}  // namespace cairn
