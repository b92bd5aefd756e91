#include "python/report.h"

#include <string>

#include "base/stat_members.h"

namespace cairn::python {
namespace {

namespace py = pybind11;

void put(py::dict& into, const std::string& name, const Stat& stat) {
  into[py::str(name + ".current")] = stat.current;
  into[py::str(name + ".peak")] = stat.peak;
  into[py::str(name + ".allocated")] = stat.allocated;
  into[py::str(name + ".freed")] = stat.freed;
}

void put(py::dict& into, const std::string& name, const StatArray& array) {
  put(into, name + ".all", array.all);
  put(into, name + ".small_pool", array.small_pool);
  put(into, name + ".large_pool", array.large_pool);
}

// The word of PyTorch's snapshots for "freed, and waits for events".
const char* word_of(BlockState state) {
  return state == BlockState::active_pending_free ? "active_awaiting_free" : to_string(state);
}

py::dict to_python(const BlockInfo& block) {
  py::dict out;
  out["address"] = block.address;
  out["size"] = block.size_bytes;
  out["requested_size"] = block.requested_size_bytes;
  out["state"] = word_of(block.state);
  out["frames"] = py::list();
  return out;
}

py::dict to_python(const SegmentInfo& segment) {
  py::list blocks;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t active_bytes = 0;
  std::uint64_t requested_bytes = 0;
  for (const BlockInfo& block : segment.blocks) {
    if (block.state != BlockState::inactive) active_bytes += block.size_bytes;
    if (block.state == BlockState::active_allocated) allocated_bytes += block.size_bytes;
    requested_bytes += block.requested_size_bytes;
    blocks.append(to_python(block));
  }
  py::dict out;
  out["device"] = segment.device;
  out["address"] = segment.address;
  out["total_size"] = segment.size_bytes;
  out["allocated_size"] = allocated_bytes;
  out["active_size"] = active_bytes;
  out["requested_size"] = requested_bytes;
  out["stream"] = segment.stream;
  out["segment_type"] = segment.is_large ? "large" : "small";
  out["segment_pool_id"] = py::make_tuple(0, 0);
  out["is_expandable"] = false;
  out["frames"] = py::list();
  out["blocks"] = blocks;
  return out;
}

}  // namespace

py::dict to_python(const DeviceStats& stats) {
  py::dict out;
  for (const auto& [name, member] : array_members) put(out, name, stats.*member);
  for (const auto& [name, member] : stat_members) put(out, name, stats.*member);
  for (const auto& [name, member] : count_members) out[name] = stats.*member;
  // PyTorch's unlimited is -1, as ours is all bits.
  out["max_split_size"] = static_cast<std::int64_t>(stats.max_split_size_bytes);
  return out;
}

py::list to_python(const BlockMap& map) {
  py::list out;
  for (const SegmentInfo& segment : map) out.append(to_python(segment));
  return out;
}

}  // namespace cairn::python
