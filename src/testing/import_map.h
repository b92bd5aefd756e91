// Maps of an allocator as JSON: {"segments": [{"address", "total_size", "segment_type", "blocks",
// "device", "stream", ...}], "allocator_settings": {...}}. A block is [address, size, is_free], or
// [address, size, requested_size, state] with PyTorch's words for the state.
#pragma once

#include <string>
#include <string_view>

#include "testing/import_recording.h"

namespace cairn::testing {

struct MapFile {
  RecordedMap map;  // Passes check_map.
  RecordedSettings settings;
};

// `name` stands for the map in errors.
ImportResult<MapFile> read_map(std::string_view json, const std::string& name);

// A Program that starts with the map and expects it.
ImportResult<Imported> import_map(std::string_view json);

}  // namespace cairn::testing
