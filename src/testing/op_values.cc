#include "testing/op_values.h"

#include <array>
#include <utility>
#include <vector>

namespace cairn::testing {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t kib = std::uint64_t{1} << 10;

constexpr std::array<std::uint64_t, 5> alignments{kib, 4 * kib, 64 * kib, mib, 2 * mib};
constexpr std::array<std::uint64_t, 6> durations{0, 1, 10, 100, 1000, 1000000};
constexpr std::array<const char*, 4> splits{"20", "21", "22", "40"};
constexpr std::array<const char*, 5> divisions{"2", "4", "8", "[1:2,2:8,>:4]",
                                               "[4:4,16:2,16384:4,>:8]"};
constexpr std::array<const char*, 4> thresholds{"0.01", "0.3", "0.6", "0.9"};
constexpr std::array<const char*, 4> fractions{"0.2", "0.5", "0.75", "0.95"};

// The calls that can fail, those that a program makes most often several times.
constexpr std::array calls{
    DriverCall::malloc,       DriverCall::malloc,       DriverCall::free,
    DriverCall::mem_info,     DriverCall::event_create, DriverCall::event_record,
    DriverCall::event_record, DriverCall::event_query,  DriverCall::event_query,
    DriverCall::event_sync,   DriverCall::stream_sync,  DriverCall::stream_sync,
    DriverCall::device_sync,  DriverCall::ctx_record,   DriverCall::stream_ctx,
    DriverCall::stream_id};
constexpr std::array errors{CudaStatus::out_of_memory, CudaStatus::invalid_value,
                            CudaStatus::invalid_handle, CudaStatus::not_supported,
                            CudaStatus::unknown};
constexpr std::array sticky_errors{CudaStatus{719}, CudaStatus{214}, CudaStatus{709},
                                   CudaStatus::illegal_address};

std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return text;
}

// Adds a setting unless the field, modulo one more than the list has, is 0.
template <class List>
void add(std::vector<std::string>& items, const char* key, const List& values, std::uint8_t field) {
  const std::size_t choice = field % (values.size() + 1);
  if (choice != 0) items.push_back(std::string(key) + ":" + values[choice - 1]);
}

// Likewise a number of MiB from `least` on, of which there are so many.
void add(std::vector<std::string>& items, const char* key, std::pair<int, int> least_and_count,
         std::uint8_t field) {
  const auto [least, count] = least_and_count;
  const int choice = field % (count + 1);
  if (choice != 0) items.push_back(std::string(key) + ":" + std::to_string(least + choice - 1));
}

constexpr std::pair roundings{20, 20};
constexpr std::pair large_segments{11, 10};

std::string on_or_off(Dice& dice) { return dice.one_in(2) ? "True" : "False"; }

std::uint8_t field(Dice& dice) { return static_cast<std::uint8_t>(1 + dice.below(250)); }

}  // namespace

int devices_of(const Setup& setup) { return 1 + setup.devices % 3; }

GpuDecl gpu_of(const Setup& setup, DeviceIndex device) {
  const std::uint8_t code = setup.memory.at(static_cast<std::size_t>(device));
  const int places = setup.places >> (2 * device);
  GpuDecl gpu;
  gpu.device = device;
  gpu.memory = Bytes{((std::uint64_t{16} << code % 8) + std::uint64_t{2} * (code / 8 % 8U)) * mib};
  gpu.adjacent = (places & 1) != 0;
  gpu.reuse_addresses = (places & 2) != 0;
  return gpu;
}

std::string settings_of(const Setup& setup) {
  std::vector<std::string> items;
  add(items, "max_split_size_mb", splits, setup.split);
  add(items, "max_non_split_rounding_mb", roundings, setup.rounding);
  add(items, "large_segment_size_mb", large_segments, setup.large_segment);
  add(items, "roundup_power2_divisions", divisions, setup.divisions);
  const auto is_on = [&](std::uint8_t bit) { return (setup.switches & bit) != 0; };
  if (is_on(setup_switch::tie_by_address)) items.emplace_back("best_fit_tie:address");
  if (is_on(setup_switch::release_lock)) items.emplace_back("release_lock_on_cudamalloc:True");
  const bool has_defects = is_on(setup_switch::pytorch_defects);
  // A handle is the stream then.
  if (is_on(setup_switch::identity) && !has_defects) items.emplace_back("stream_identity:id");
  add(items, "garbage_collection_threshold", thresholds, setup.threshold);
  add(items, "per_process_memory_fraction", fractions, setup.fraction);
  if (is_on(setup_switch::rejects)) items.emplace_back("throw_on_cudamalloc_oom:True");
  if (has_defects) items.emplace_back("pytorch_defects:True");
  return join(items);
}

std::string new_settings(Dice& dice) {
  std::vector<std::string> items;
  if (dice.one_in(2)) add(items, "garbage_collection_threshold", thresholds, field(dice));
  if (dice.one_in(3)) add(items, "max_split_size_mb", splits, field(dice));
  if (dice.one_in(4)) add(items, "roundup_power2_divisions", divisions, field(dice));
  if (dice.one_in(4)) add(items, "max_non_split_rounding_mb", roundings, field(dice));
  if (dice.one_in(4)) add(items, "large_segment_size_mb", large_segments, field(dice));
  if (dice.one_in(3)) add(items, "per_process_memory_fraction", fractions, field(dice));
  if (dice.one_in(4)) items.push_back("throw_on_cudamalloc_oom:" + on_or_off(dice));
  if (dice.one_in(4)) items.push_back("release_lock_on_cudamalloc:" + on_or_off(dice));
  if (dice.one_in(10)) items.emplace_back("expandable_segments:True");
  if (items.empty()) items.emplace_back("throw_on_cudamalloc_oom:False");
  return join(items);
}

std::optional<Bytes> alignment_of(const Op& op) {
  const std::size_t choice = op.variant % 8;
  if (choice == 0 || choice > alignments.size()) return std::nullopt;
  return Bytes{alignments[choice - 1]};
}

std::uint64_t ticks_of(const Op& op) { return durations[op.amount % durations.size()]; }

double fraction_of(const Op& op) { return static_cast<double>(op.amount % 101) / 100; }

Fault fault_of(const Op& op, bool may_last) {
  Fault fault;
  fault.call = calls[op.amount % calls.size()];
  fault.error = errors[op.other % errors.size()];
  fault.at = 1 + op.variant % 4;
  fault.count = 1 + op.variant / 4 % 4;
  if (!may_last) return fault;
  if (op.other >= 230) fault.error = sticky_errors[op.other % sticky_errors.size()];
  fault.sticky = op.variant >= 0xf0;
  if (op.variant / 16 == 0xe) fault.count.reset();
  return fault;
}

}  // namespace cairn::testing
