// Statistics and the map of memory as Python's values, in PyTorch's words. The caller holds the
// GIL.
#pragma once

#include <pybind11/pybind11.h>

#include "cairn/block_map.h"
#include "cairn/stats.h"

namespace cairn::python {

// As torch.cuda.memory_stats() gives them: "allocated_bytes.all.peak" and so on.
pybind11::dict to_python(const DeviceStats& stats);

// As torch.cuda.memory_snapshot() gives it: a dict for each segment, with its blocks.
pybind11::list to_python(const BlockMap& map);

}  // namespace cairn::python
