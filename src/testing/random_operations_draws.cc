#include "testing/random_operations_draws.h"

#include <array>
#include <utility>
#include <vector>

namespace cairn::testing {
namespace {

constexpr std::uint64_t kib = std::uint64_t{1} << 10;
constexpr std::uint64_t mib = std::uint64_t{1} << 20;

// Where a formula of the size policy changes.
constexpr std::array<std::uint64_t, 16> borders{
    1,       512,     kib,      2 * kib,  64 * kib, 512 * kib, mib,      3 * mib / 2,
    2 * mib, 9 * mib, 10 * mib, 18 * mib, 19 * mib, 20 * mib,  21 * mib, 40 * mib};
constexpr std::array<std::uint64_t, 8> impossible{std::uint64_t{1} << 31,
                                                  std::uint64_t{1} << 32,
                                                  (std::uint64_t{1} << 60) - 1,
                                                  std::uint64_t{1} << 60,
                                                  ~std::uint64_t{0},
                                                  ~std::uint64_t{0} - 511,
                                                  (std::uint64_t{1} << 31) - 1,
                                                  (std::uint64_t{1} << 32) - 511};
constexpr std::array<std::uint64_t, 5> alignments{kib, 4 * kib, 64 * kib, mib, 2 * mib};
constexpr std::array<std::uint64_t, 6> durations{0, 1, 10, 100, 1000, 1000000};
constexpr std::array<const char*, 4> splits{"20", "21", "22", "40"};
constexpr std::array<const char*, 5> divisions{"2", "4", "8", "[1:2,2:8,>:4]", "[4:4,16:2]"};
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

std::string on_or_off(Dice& dice) { return dice.one_in(2) ? "True" : "False"; }

std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return text;
}

}  // namespace

Tastes::Tastes(Dice& dice)
    : devices(1 + static_cast<int>(dice.below(3))),
      most_live(4 + dice.below(dice.one_in(3) ? 47 : 13)),
      largest_exponent(10 + dice.below(17)),
      is_oversize(dice.one_in(4)),
      has_limits(dice.one_in(2)),
      has_identity(dice.one_in(5)),
      has_lost_devices(dice.one_in(8)),
      has_default_streams(!dice.one_in(3)) {}

Bytes draw_memory(Dice& dice, const Tastes& tastes) {
  const std::uint64_t exponent = tastes.is_oversize ? 2 + dice.below(3) : dice.below(6);
  return Bytes{((std::uint64_t{16} << exponent) + 2 * dice.below(8)) * mib};
}

Bytes draw_size(Dice& dice, const Tastes& tastes) {
  if (tastes.is_oversize && dice.one_in(3))
    return Bytes{(19 + dice.below(26)) * mib - 511 + dice.below(512)};
  if (dice.one_in(200)) return Bytes{dice.pick(impossible)};
  if (dice.one_in(3)) {
    const std::uint64_t border = dice.pick(borders);
    const std::uint64_t distance = dice.one_in(2) ? dice.below(3) : 511 + dice.below(3);
    return Bytes{dice.one_in(2) || border < distance ? border + distance : border - distance};
  }
  return Bytes{1 + dice.below(std::uint64_t{1} << dice.below(tastes.largest_exponent))};
}

Bytes draw_alignment(Dice& dice) { return Bytes{dice.pick(alignments)}; }

std::uint64_t draw_ticks(Dice& dice) { return dice.pick(durations); }

std::string draw_settings(Dice& dice, const Tastes& tastes) {
  std::vector<std::string> items;
  if (tastes.is_oversize || dice.one_in(2))
    items.push_back(std::string("max_split_size_mb:") + dice.pick(splits));
  if (dice.one_in(4))
    items.emplace_back("max_non_split_rounding_mb:" + std::to_string(20 + dice.below(20)));
  if (dice.one_in(4))
    items.emplace_back("large_segment_size_mb:" + std::to_string(11 + dice.below(10)));
  if (dice.one_in(3))
    items.push_back(std::string("roundup_power2_divisions:") + dice.pick(divisions));
  if (dice.one_in(2)) items.emplace_back("best_fit_tie:address");
  if (dice.one_in(4)) items.emplace_back("release_lock_on_cudamalloc:True");
  if (tastes.has_identity) items.emplace_back("stream_identity:id");
  if (tastes.has_limits) {
    items.push_back(std::string("garbage_collection_threshold:") + dice.pick(thresholds));
    items.push_back(std::string("per_process_memory_fraction:") + dice.pick(fractions));
    if (dice.one_in(3)) items.emplace_back("throw_on_cudamalloc_oom:True");
  }
  return join(items);
}

std::string draw_new_settings(Dice& dice) {
  std::vector<std::string> items;
  if (dice.one_in(2))
    items.push_back(std::string("garbage_collection_threshold:") + dice.pick(thresholds));
  if (dice.one_in(3)) items.push_back(std::string("max_split_size_mb:") + dice.pick(splits));
  if (dice.one_in(4))
    items.push_back(std::string("roundup_power2_divisions:") + dice.pick(divisions));
  if (dice.one_in(4))
    items.emplace_back("max_non_split_rounding_mb:" + std::to_string(20 + dice.below(20)));
  if (dice.one_in(4))
    items.emplace_back("large_segment_size_mb:" + std::to_string(11 + dice.below(10)));
  if (dice.one_in(3))
    items.push_back(std::string("per_process_memory_fraction:") + dice.pick(fractions));
  if (dice.one_in(4)) items.push_back("throw_on_cudamalloc_oom:" + on_or_off(dice));
  if (dice.one_in(4)) items.push_back("release_lock_on_cudamalloc:" + on_or_off(dice));
  if (dice.one_in(10)) items.emplace_back("expandable_segments:True");
  if (items.empty()) items.emplace_back("throw_on_cudamalloc_oom:False");
  return join(items);
}

double draw_fraction(Dice& dice) {
  constexpr std::array whole{1.0, 1.0, 1.0, 0.0};
  if (dice.one_in(3)) return dice.pick(whole);
  return static_cast<double>(1 + dice.below(99)) / 100;
}

Fault draw_fault(Dice& dice, const Tastes& tastes) {
  Fault fault;
  fault.call = dice.pick(calls);
  fault.at = 1 + dice.below(3);
  fault.error = dice.pick(errors);
  fault.count = 1 + dice.below(3);
  if (!tastes.has_lost_devices) return fault;
  if (dice.one_in(10)) fault.error = dice.pick(sticky_errors);
  fault.sticky = dice.one_in(20);
  if (dice.one_in(20)) fault.count.reset();
  return fault;
}

}  // namespace cairn::testing
