#include "tool/statistics.h"

#include <string>

namespace cairn::tool {
namespace {

using Json = nlohmann::ordered_json;

void add(Json& json, const std::string& name, const Stat& stat) {
  json[name + ".current"] = stat.current;
  json[name + ".peak"] = stat.peak;
  json[name + ".allocated"] = stat.allocated;
  json[name + ".freed"] = stat.freed;
}

void add(Json& json, const std::string& name, const StatArray& stats) {
  add(json, name + ".all", stats.all);
  add(json, name + ".small_pool", stats.small_pool);
  add(json, name + ".large_pool", stats.large_pool);
}

}  // namespace

Json json_of(const DeviceStats& stats) {
  Json json = Json::object();
  add(json, "allocation", stats.allocation);
  add(json, "segment", stats.segment);
  add(json, "active", stats.active);
  add(json, "inactive_split", stats.inactive_split);
  add(json, "allocated_bytes", stats.allocated_bytes);
  add(json, "reserved_bytes", stats.reserved_bytes);
  add(json, "active_bytes", stats.active_bytes);
  add(json, "inactive_split_bytes", stats.inactive_split_bytes);
  add(json, "requested_bytes", stats.requested_bytes);
  add(json, "oversize_allocations", stats.oversize_allocations);
  add(json, "oversize_segments", stats.oversize_segments);
  json["num_alloc_retries"] = stats.num_alloc_retries;
  json["num_ooms"] = stats.num_ooms;
  json["num_oom_rejections"] = stats.num_oom_rejections;
  json["num_sync_all_streams"] = stats.num_sync_all_streams;
  json["num_device_alloc"] = stats.num_device_alloc;
  json["num_device_free"] = stats.num_device_free;
  json["max_split_size"] = stats.max_split_size_bytes;
  return json;
}

}  // namespace cairn::tool
