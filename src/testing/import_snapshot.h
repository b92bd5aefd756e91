// PyTorch memory snapshots, as torch.cuda.memory._dump_snapshot pickles them.
#pragma once

#include <string>
#include <string_view>

#include "testing/import_result.h"

namespace cairn::testing {

struct SnapshotOptions {
  // What the recorded PyTorch did among free blocks of equal size: "address", or "segment" since
  // 2026.
  std::string best_fit_tie = "address";
};

// The Program starts from the map that the trace began with, does what the trace did, expects each
// address, and then the snapshot's own map. Without a trace it is that map alone. Segments of
// private pools are left out, with what happened in them; expandable segments are refused.
ImportResult<Imported> import_snapshot(std::string_view pickle,
                                       const SnapshotOptions& options = {});

}  // namespace cairn::testing
