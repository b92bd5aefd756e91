// A Program made ready to be replayed: names have become numbers, and what the allocator never sees
// (kernels, virtual time, expectations but for addresses) is left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "cairn/options.h"
#include "heap/heap.h"
#include "simulator/simulated_gpu.h"
#include "testing/program.h"
#include "tool/console.h"

namespace cairn::tool {

struct ReplayOperation {
  enum class Kind : std::uint8_t { alloc, free, use, empty_cache, next_segment };
  Kind kind = Kind::alloc;
  bool must_fail = false;   // Out of memory.
  bool is_checked = false;  // free: the block must be of `size` and `stream`.
  DeviceIndex device = 0;
  std::uint32_t slot = 0;  // Of the address: where alloc puts it, and where others take it from.
  int line = 0;
  Bytes size;
  Bytes alignment{512};
  std::size_t stream = 0;  // Of the plan's streams.
  Address address;         // alloc: the expected one, or 0; next_segment: the one.
};

struct ReplaySegment {
  DeviceIndex device = 0;
  SegmentLayout layout;              // Its stream is the machine's to fill in.
  std::size_t stream = 0;            // Of the plan's streams.
  std::vector<std::uint32_t> slots;  // Of the live blocks, in order of address.
};

struct ReplayPlan {
  std::vector<simulator::DeviceOptions> devices;
  Options options;
  // The device that each stream is of. The first is the legacy default stream of whatever device.
  std::vector<DeviceIndex> streams{0};
  std::vector<std::string> stream_names{"s0"};  // As the Program calls them.
  std::vector<ReplaySegment> segments;
  std::vector<ReplayOperation> operations;
  std::vector<std::string> slot_names;           // One a slot: what the Program calls the block.
  std::map<std::string, std::uint64_t> skipped;  // Statements left out, by what they are.
};

struct ReplayRefusal {
  ExitCode code = ExitCode::unsupported;
  int line = 0;
  std::string why;
};

Result<ReplayPlan, ReplayRefusal> plan_replay(const testing::Program& program);

}  // namespace cairn::tool
