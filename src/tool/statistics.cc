#include "tool/statistics.h"

#include <string>

#include "base/stat_members.h"

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
  for (const auto& [name, member] : array_members) add(json, name, stats.*member);
  for (const auto& [name, member] : stat_members) add(json, name, stats.*member);
  for (const auto& [name, member] : count_members) json[name] = stats.*member;
  json["max_split_size"] = stats.max_split_size_bytes;
  return json;
}

}  // namespace cairn::tool
