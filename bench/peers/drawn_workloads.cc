#include "bench/peers/drawn_workloads.h"

#include <charconv>
#include <random>

#include "bench/random_allocations.h"
#include "bench/training_sizes.h"

namespace cairn::bench::peers {
namespace {

constexpr std::uint64_t most_live_blocks = 10'000'000;
constexpr std::uint64_t most_mib = std::uint64_t{1} << 20;

// Takes `word` off the front of `text`.
bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}
std::optional<std::uint64_t> take_number(std::string_view& text, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number == 0 || number > most) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Blocks have slots here, which are taken again.
Workload hits(std::uint64_t live_blocks, bool is_random) {
  constexpr std::uint64_t pairs = 100'000;
  Workload hits;
  std::mt19937_64 random(20'741);
  const TrainingSizes sizes;
  std::vector<std::uint64_t> slots;
  for (std::uint64_t i = 0; i < live_blocks; ++i) {
    slots.push_back(sizes.draw(random));
    hits.sequence.allocate(slots.back());
  }
  const auto replace = [&](std::uint64_t slot) {
    const auto block = static_cast<std::uint32_t>(slot);
    hits.sequence.free(block);
    hits.sequence.steps.push_back({StepKind::allocate, 0, block, slots[slot]});
  };
  // Not the order of a first filling, but of a program that runs.
  for (std::uint64_t i = 0; i < live_blocks; ++i) replace(random() % live_blocks);
  hits.first_timed = hits.sequence.steps.size();
  for (std::uint64_t i = 0; i < pairs; ++i) {
    replace(is_random ? random() % live_blocks : live_blocks / 2);
  }
  return hits;
}

Workload batches(std::uint64_t blocks) {
  Workload batches;
  const auto batch = [&] {
    for (std::uint32_t i = 0; i < blocks; ++i) {
      batches.sequence.steps.push_back({StepKind::allocate, 0, i, 1024});
    }
    for (std::uint32_t i = 0; i < blocks; ++i) batches.sequence.free(i);
  };
  batches.sequence.blocks = static_cast<std::uint32_t>(blocks);
  batch();
  batches.first_timed = batches.sequence.steps.size();
  while (batches.sequence.steps.size() < 200'000) batch();
  return batches;
}

Workload across_streams() {
  constexpr std::size_t times = 50'000;
  constexpr std::uint64_t size_bytes = std::uint64_t{1} << 20;
  Workload across;
  across.sequence.blocks = 1;
  for (std::size_t i = 0; i < times; ++i) {
    across.sequence.steps.push_back({StepKind::allocate, 1, 0, size_bytes});
    across.sequence.use(0, 2);
    across.sequence.free(0);
  }
  return across;
}

}  // namespace

std::optional<Workload> drawn_workload(std::string_view name) {
  if (name == "cross-stream") return across_streams();
  if (take_word(name, "batch-")) {
    const auto blocks = take_number(name, 100'000);
    if (blocks && name.empty()) return batches(*blocks);
  } else if (take_word(name, "random-")) {
    const auto allocations = take_number(name, most_live_blocks);
    if (!allocations || !take_word(name, "-of-")) return std::nullopt;
    const auto largest_mib = take_number(name, most_mib);
    if (!largest_mib || name != "MiB") return std::nullopt;
    Workload random;
    random.sequence = random_allocations({*allocations, *largest_mib});
    return random;
  } else if (take_word(name, "hit-")) {
    const bool is_random = take_word(name, "random-");
    if (!is_random && !take_word(name, "same-")) return std::nullopt;
    const auto live_blocks = take_number(name, most_live_blocks);
    if (live_blocks && name.empty()) return hits(*live_blocks, is_random);
  }
  return std::nullopt;
}

}  // namespace cairn::bench::peers
