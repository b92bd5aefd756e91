#include "python/report.h"

#include <array>
#include <string>

namespace cairn::python {
namespace {

namespace py = pybind11;

struct ArrayName {
  const char* name;
  StatArray DeviceStats::* member;
};
constexpr std::array<ArrayName, 9> arrays{{
    {"allocation", &DeviceStats::allocation},
    {"segment", &DeviceStats::segment},
    {"active", &DeviceStats::active},
    {"inactive_split", &DeviceStats::inactive_split},
    {"allocated_bytes", &DeviceStats::allocated_bytes},
    {"reserved_bytes", &DeviceStats::reserved_bytes},
    {"active_bytes", &DeviceStats::active_bytes},
    {"inactive_split_bytes", &DeviceStats::inactive_split_bytes},
    {"requested_bytes", &DeviceStats::requested_bytes},
}};

struct CountName {
  const char* name;
  std::int64_t DeviceStats::* member;
};
constexpr std::array<CountName, 6> counts{{
    {"num_alloc_retries", &DeviceStats::num_alloc_retries},
    {"num_ooms", &DeviceStats::num_ooms},
    {"num_oom_rejections", &DeviceStats::num_oom_rejections},
    {"num_sync_all_streams", &DeviceStats::num_sync_all_streams},
    {"num_device_alloc", &DeviceStats::num_device_alloc},
    {"num_device_free", &DeviceStats::num_device_free},
}};

void put(py::dict& into, const std::string& name, const Stat& stat) {
  into[py::str(name + ".current")] = stat.current;
  into[py::str(name + ".peak")] = stat.peak;
  into[py::str(name + ".allocated")] = stat.allocated;
  into[py::str(name + ".freed")] = stat.freed;
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
  for (const auto& [name, member] : arrays) {
    const StatArray& array = stats.*member;
    put(out, std::string(name) + ".all", array.all);
    put(out, std::string(name) + ".small_pool", array.small_pool);
    put(out, std::string(name) + ".large_pool", array.large_pool);
  }
  put(out, "oversize_allocations", stats.oversize_allocations);
  put(out, "oversize_segments", stats.oversize_segments);
  for (const auto& [name, member] : counts) out[name] = stats.*member;
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
