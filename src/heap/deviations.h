// Which deviations of README.md are in force: what is decided otherwise than by PyTorch on purpose.
// Whoever decides one asks here, by its name. `pytorch_defects:True` switches back V3 to V10.
#pragma once

#include "cairn/options.h"

namespace cairn {

class Deviations {
  const bool are_kept_;

 public:
  explicit Deviations(const Options& options) : are_kept_(!options.pytorch_defects) {}

  const bool searches_after_waiting = are_kept_;           // V3
  const bool searches_after_release = are_kept_;           // V4
  const bool waits_before_release = are_kept_;             // V5
  const bool tells_devices_apart = are_kept_;              // V6
  const bool tells_equal_handles_apart = are_kept_;        // V7
  const bool recounts_oversize = are_kept_;                // V8
  const bool fences_without_handle = are_kept_;            // V9
  const bool refuses_use_of_what_is_not_live = are_kept_;  // V10
};

}  // namespace cairn
