// The settings under which a run of PyTorch was recorded, as its snapshots hold them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"

namespace cairn::testing {

struct RecordedSettings {
  std::string text;                     // PYTORCH_CUDA_ALLOC_CONF, as it was.
  std::optional<Bytes> max_split_size;  // None: unlimited.
  double garbage_collection_threshold = 0.0;
  std::array<std::uint64_t, 16> roundup_power2_divisions{};  // As in Options.
};

// The size that a request takes when blocks are split exactly. REQUIRES: requested is below 2^60.
Bytes rounded_size(Bytes requested, const RecordedSettings& settings);

// Settings text with the same effect on where blocks go; empty where all is default. Of `text` only
// max_non_split_rounding_mb and large_segment_size_mb are used, since the rest has fields.
std::string settings_text(const RecordedSettings& settings, const std::string& best_fit_tie);

}  // namespace cairn::testing
