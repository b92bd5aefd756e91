#include "testing/difference.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/stat_members.h"
#include "testing/printer.h"

namespace cairn::testing {
namespace {

std::string describe_stat(const Stat& stat) {
  return "current " + std::to_string(stat.current) + ", peak " + std::to_string(stat.peak) +
         ", allocated " + std::to_string(stat.allocated) + ", freed " + std::to_string(stat.freed);
}

std::optional<Difference> compare_stat(const std::string& name, const Stat& expected,
                                       const Stat& found) {
  if (expected == found) return std::nullopt;
  return Difference{name + ": " + describe_stat(expected), name + ": " + describe_stat(found)};
}

std::optional<Difference> compare_stat(const std::string& name, const StatArray& expected,
                                       const StatArray& found) {
  if (auto difference = compare_stat(name + ".all", expected.all, found.all)) return difference;
  if (auto difference = compare_stat(name + ".small_pool", expected.small_pool, found.small_pool))
    return difference;
  return compare_stat(name + ".large_pool", expected.large_pool, found.large_pool);
}

template <class T>
struct QuantityOf {
  const char* name;
  T MemoryReport::* pointer;
};
constexpr auto quantities = std::to_array<QuantityOf<std::uint64_t>>({
    {"requested", &MemoryReport::requested_bytes},
    {"tried", &MemoryReport::tried_bytes},
    {"allocated", &MemoryReport::allocated_bytes},
    {"private", &MemoryReport::private_bytes},
    {"unallocated", &MemoryReport::unallocated_bytes},
    {"pending", &MemoryReport::pending_bytes},
});
constexpr auto known_quantities = std::to_array<QuantityOf<std::optional<std::uint64_t>>>({
    {"total", &MemoryReport::total_bytes},
    {"free", &MemoryReport::free_bytes},
    {"limit", &MemoryReport::limit_bytes},
});

std::string describe_quantity(const char* name, std::optional<std::uint64_t> bytes) {
  return std::string("out of memory, ") + name + ": " +
         (bytes ? std::to_string(*bytes) : "not known");
}

bool same_block(const BlockInfo& a, const BlockInfo& b) {
  const bool same_request =
      a.state == BlockState::inactive || a.requested_size_bytes == b.requested_size_bytes;
  return a.address == b.address && a.size_bytes == b.size_bytes && a.state == b.state &&
         same_request;
}

bool same_head(const SegmentInfo& a, const SegmentInfo& b) {
  return a.device == b.device && a.address == b.address && a.size_bytes == b.size_bytes &&
         a.stream == b.stream && a.is_large == b.is_large;
}

std::optional<Difference> compare_segment(const SegmentInfo& expected, const SegmentInfo& found) {
  if (!same_head(expected, found)) return Difference{describe(expected), describe(found)};
  const std::string where = " in " + describe(expected);
  const auto [a, b] = std::ranges::mismatch(expected.blocks, found.blocks, same_block);
  if (a == expected.blocks.end() && b == found.blocks.end()) return std::nullopt;
  return Difference{(a == expected.blocks.end() ? "no more blocks" : describe(*a)) + where,
                    (b == found.blocks.end() ? "no more blocks" : describe(*b)) + where};
}

}  // namespace

std::string describe(const RecordedCall& call) {
  std::string text(to_string(call.call));
  if (call.call == DriverCall::malloc) text += " of " + print_size(call.size);
  if (call.call == DriverCall::free) text += " of " + print_address(call.address);
  if (call.call == DriverCall::event_create && call.context.value != 0)
    text += " in context " + print_address({call.context.value});
  if (call.call != DriverCall::event_create && call.event.value != 0)
    text += " of event " + print_address({call.event.value});
  if (takes_stream(call.call)) text += " on stream " + print_address({call.stream});
  return text + " on device " + std::to_string(call.device);
}

std::string describe(std::span<const StreamKey> uses) {
  std::string text;
  for (const StreamKey& use : uses) {
    text += (text.empty() ? "used by stream " : ", stream ") + print_address({use.id.value}) +
            " of device " + std::to_string(use.device);
  }
  return text.empty() ? "not used by other streams" : text;
}

std::string describe(const SegmentInfo& segment) {
  return "segment " + print_address({segment.address}) + " " + print_size({segment.size_bytes}) +
         (segment.is_large ? " large" : " small") + ", stream " + print_address({segment.stream}) +
         ", device " + std::to_string(segment.device);
}

std::string describe(const BlockInfo& block) {
  std::string text = "block " + print_address({block.address}) + " " +
                     print_size({block.size_bytes}) + " " + to_string(block.state);
  if (block.state == BlockState::inactive) return text;
  return text + ", requested " + std::to_string(block.requested_size_bytes);
}

std::optional<Difference> compare(const DeviceStats& expected, const DeviceStats& found) {
  if (expected == found) return std::nullopt;
  for (const auto& [name, member] : array_members)
    if (auto difference = compare_stat(name, expected.*member, found.*member)) return difference;
  for (const auto& [name, member] : stat_members)
    if (auto difference = compare_stat(name, expected.*member, found.*member)) return difference;
  for (const auto& [name, member] : count_members) {
    const std::string prefix = std::string(name) + ": ";
    if (expected.*member != found.*member)
      return Difference{prefix + std::to_string(expected.*member),
                        prefix + std::to_string(found.*member)};
  }
  return Difference{"max_split_size: " + std::to_string(expected.max_split_size_bytes),
                    "max_split_size: " + std::to_string(found.max_split_size_bytes)};
}

std::optional<Difference> compare(const BlockMap& expected, const BlockMap& found) {
  for (std::size_t i = 0; i < std::min(expected.size(), found.size()); ++i)
    if (auto difference = compare_segment(expected[i], found[i])) return difference;
  if (expected.size() == found.size()) return std::nullopt;
  const std::size_t common = std::min(expected.size(), found.size());
  return Difference{common < expected.size() ? describe(expected[common]) : "no more segments",
                    common < found.size() ? describe(found[common]) : "no more segments"};
}

std::optional<Difference> compare(const MemoryReport& expected, const MemoryReport& found) {
  const auto differ = [](const char* name, auto a, auto b) {
    return Difference{describe_quantity(name, a), describe_quantity(name, b)};
  };
  for (const auto& [name, member] : quantities)
    if (expected.*member != found.*member) return differ(name, expected.*member, found.*member);
  for (const auto& [name, member] : known_quantities)
    if (expected.*member != found.*member) return differ(name, expected.*member, found.*member);
  if (expected.device == found.device) return std::nullopt;
  return Difference{"out of memory on device " + std::to_string(expected.device),
                    "out of memory on device " + std::to_string(found.device)};
}

}  // namespace cairn::testing
