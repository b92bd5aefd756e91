#include "testing/random_operations.h"

#include <algorithm>
#include <iterator>
#include <utility>

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

Statement statement(Operation operation) {
  Statement made;
  made.operation = std::move(operation);
  return made;
}

}  // namespace

RandomOperations::RandomOperations(std::uint64_t seed)
    : engine_(seed),
      devices_(1 + static_cast<int>(below(2))),
      streams_(1 + below(4)),
      largest_exponent_(10 + below(17)),
      is_oversize_world_(one_in(4)) {
  constexpr std::array<std::uint64_t, kind_count> base{40, 40, 4, 2, 2, 4, 1};
  for (std::size_t kind = 0; kind < weights_.size(); ++kind) {
    weights_[kind] = base[kind] * (1 + below(4)) * (one_in(5) && kind > free_block ? 0 : 1);
  }
}

std::vector<Statement> RandomOperations::declarations() {
  std::vector<Statement> statements;
  for (DeviceIndex device = 0; device < devices_; ++device) {
    GpuDecl gpu;
    gpu.device = device;
    gpu.memory = Bytes{(std::uint64_t{16} << (is_oversize_world_ ? 2 + below(3) : below(8))) * mib};
    gpu.adjacent = one_in(2);
    gpu.reuse_addresses = one_in(2);
    statements.push_back(statement(gpu));
  }
  if (const std::string settings = draw_settings(); !settings.empty()) {
    statements.push_back(statement(Conf{settings}));
  }
  if (one_in(3)) declare_segment(statements, draw_device());
  return statements;
}

void RandomOperations::declare_segment(std::vector<Statement>& statements, DeviceIndex device) {
  SegmentDecl segment;
  segment.address = {0x200000000000 + (static_cast<std::uint64_t>(device) << 40)};
  segment.pool = one_in(2) ? PoolKind::small : PoolKind::large;
  segment.size = Bytes{(segment.pool == PoolKind::small ? 2 : 14) * mib};
  segment.stream = "s0";
  segment.gpu = device;
  const Bytes piece{segment.size.count / 4};
  statements.push_back(statement(segment));
  for (int i = 0; i < 4; ++i) {
    BlockDecl block;
    block.size = piece;
    if (i != 2) block.name = "i" + std::to_string(i);
    if (block.name) live_.push_back({*block.name, piece, segment.stream});
    statements.push_back(statement(block));
  }
}

std::string RandomOperations::draw_settings() {
  constexpr std::array<const char*, 4> splits{"20", "21", "22", "40"};
  constexpr std::array<const char*, 5> divisions{"2", "4", "8", "[1:2,2:8,>:4]", "[4:4,16:2]"};
  std::vector<std::string> items;
  if (is_oversize_world_ || one_in(2))
    items.push_back(std::string("max_split_size_mb:") + splits[below(splits.size())]);
  if (one_in(4)) items.emplace_back("max_non_split_rounding_mb:" + std::to_string(20 + below(20)));
  if (one_in(4)) items.emplace_back("large_segment_size_mb:" + std::to_string(11 + below(10)));
  if (one_in(3)) {
    items.push_back(std::string("roundup_power2_divisions:") + divisions[below(divisions.size())]);
  }
  if (one_in(2)) items.emplace_back("best_fit_tie:address");
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return text;
}

Statement RandomOperations::next() { return statement(make(draw_kind())); }

void RandomOperations::done(const Statement& was, bool succeeded) {
  if (!succeeded) return;
  if (const auto* made = std::get_if<Alloc>(&was.operation)) {
    if (made->size > Bytes{0}) live_.push_back({made->name, made->size, made->stream});
  } else if (const auto* given = std::get_if<Free>(&was.operation)) {
    const auto* target = std::get_if<NamedTarget>(&given->target);
    if (target == nullptr) return;
    const auto found = std::find_if(live_.begin(), live_.end(),
                                    [&](const Live& live) { return live.name == target->name; });
    if (found == live_.end()) return;
    freed_.push_back(found->name);
    *found = live_.back();
    live_.pop_back();
  }
}

RandomOperations::Kind RandomOperations::draw_kind() {
  std::uint64_t total = 0;
  for (const std::uint64_t weight : weights_) total += weight;
  std::uint64_t drawn = below(total);
  for (std::size_t kind = 0; kind < weights_.size(); ++kind) {
    if (drawn < weights_[kind]) return static_cast<Kind>(kind);
    drawn -= weights_[kind];
  }
  return alloc;
}

Operation RandomOperations::make(Kind kind) {
  switch (kind) {
    case free_block:
      return live_.empty() ? make_alloc() : make_free();
    case bad_free:
      return make_bad_free();
    case empty_cache:
      return EmptyCache{};
    case fault:
      return make_fault();
    case switch_device:
      return SetDevice{draw_device()};
    case reset:
      return Reset{one_in(2) ? ResetWhat::peak : ResetWhat::accumulated};
    case alloc:
    case kind_count:
      break;
  }
  return make_alloc();
}

Bytes RandomOperations::draw_size() {
  if (is_oversize_world_ && one_in(3)) return Bytes{(19 + below(26)) * mib - 511 + below(512)};
  if (one_in(100)) return Bytes{impossible[below(impossible.size())]};
  if (one_in(3)) {
    const std::uint64_t border = borders[below(borders.size())];
    const std::uint64_t distance = one_in(2) ? below(3) : 511 + below(3);
    return Bytes{one_in(2) || border < distance ? border + distance : border - distance};
  }
  return Bytes{1 + below(std::uint64_t{1} << below(largest_exponent_))};
}

Operation RandomOperations::make_alloc() {
  Alloc made;
  made.name = "a" + std::to_string(names_++);
  made.size = draw_size();
  made.stream = "s" + std::to_string(below(streams_));
  if (one_in(8)) made.align = Bytes{alignments[below(alignments.size())]};
  return made;
}

Operation RandomOperations::make_free() {
  const Live& live = live_[below(live_.size())];
  Free given;
  given.target = NamedTarget{live.name, {}};
  if (one_in(8)) given.size = live.size;
  if (one_in(8)) given.stream = live.stream;
  return given;
}

// Freed already, inside a block, in no memory, or checked with what it is not.
Operation RandomOperations::make_bad_free() {
  Free given;
  given.target = Address{0x1234};
  if (one_in(2) && !freed_.empty()) {
    given.target = NamedTarget{freed_[below(freed_.size())], {}};
  } else if (!live_.empty()) {
    const Live& live = live_[below(live_.size())];
    given.target = NamedTarget{live.name, {}};
    if (one_in(3)) {
      given.target = NamedTarget{live.name, Bytes{1 + below(live.size.count)}};
    } else if (one_in(2)) {
      given.size = live.size + Bytes{1};
    } else {
      given.stream = "other";
    }
  }
  return given;
}

Operation RandomOperations::make_fault() {
  constexpr std::array<DriverCall, 3> calls{DriverCall::malloc, DriverCall::free,
                                            DriverCall::mem_info};
  constexpr std::array<CudaStatus, 3> errors{CudaStatus::out_of_memory, CudaStatus::invalid_value,
                                             CudaStatus::unknown};
  Fault planned;
  planned.call = calls[below(calls.size())];
  planned.at = 1 + below(3);
  planned.error = errors[below(errors.size())];
  planned.count = 1 + below(3);
  return planned;
}

}  // namespace cairn::testing
