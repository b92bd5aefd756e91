// The statistics of a device as JSON, flat, under the names that torch.cuda.memory_stats gives
// them: {"allocation.all.current": 0, ..., "num_ooms": 0, ...}.
#pragma once

#include <nlohmann/json.hpp>

#include "cairn/stats.h"

namespace cairn::tool {

nlohmann::ordered_json json_of(const DeviceStats& stats);

}  // namespace cairn::tool
