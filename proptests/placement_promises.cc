// Where blocks are, how large they are, and that they stay so.
#include <algorithm>
#include <compare>
#include <iterator>
#include <string>
#include <vector>

#include "policy.h"
#include "promises.h"
#include "testing/printer.h"

namespace cairn::testing {
namespace {

std::string in_words(Span span) {
  return print_size(span.size) + " at " + print_address(span.begin);
}

template <class Info>
Span span_of(const Info& info) {
  return {{info.address}, {info.size_bytes}};
}

template <class Promised>
std::unique_ptr<Promise> make(Tally& tally) {
  return std::make_unique<Promised>(tally);
}

// No two live blocks overlap, by what was asked for and what was answered alone. Each begins at a
// multiple of 512 bytes, and of its alignment.
class NoOverlap final : public Promise {
 public:
  using Promise::Promise;

  std::optional<Difference> after(const Sight& sight) override {
    const auto* alloc = sight.as<Alloc>();
    if (alloc == nullptr || !sight.succeeded) return std::nullopt;
    const Address address = sight.deed->address;
    if (alloc->size == Bytes{0}) {
      if (address == Address{}) return std::nullopt;
      return Difference{"null for no bytes", print_address(address)};
    }
    const Bytes alignment = std::max(alloc->align.value_or(Bytes{512}), Bytes{512});
    if (address == Address{} || !is_aligned(address, alignment))
      return Difference{"an address at a multiple of " + print_size(alignment),
                        print_address(address)};
    const Span handed_out{address, alloc->size};
    for (const auto& [name, block] : sight.book.live()) {
      const Span live{block.address, block.requested};
      if (live.overlaps(handed_out))
        return Difference{"memory apart from '" + name + "', " + testing::in_words(live),
                          testing::in_words(handed_out)};
    }
    count("allocations");
    if (sight.calls(DriverCall::malloc, true) == 0) count("hits");
    return std::nullopt;
  }
};

// Segments are disjoint, and exactly what the driver has given out; blocks tile each.
class Tiling final : public Promise {
 public:
  using Promise::Promise;

  std::optional<Difference> after(const Sight& sight) override {
    if (sight.deed == nullptr) return std::nullopt;
    std::vector<Span> all;
    for (const DeviceSight& device : sight.now) {
      std::vector<Span> segments;
      for (const SegmentInfo& segment : device.map) {
        segments.push_back(span_of(segment));
        if (auto difference = untiled(segment)) return difference;
      }
      if (auto difference = compare(device.out, segments)) return difference;
      std::ranges::copy(segments, std::back_inserter(all));
    }
    std::ranges::sort(all, {}, &Span::begin);
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i - 1].overlaps(all[i]))
        return Difference{"disjoint segments",
                          testing::in_words(all[i - 1]) + " and " + testing::in_words(all[i])};
    }
    return std::nullopt;
  }

 private:
  static std::optional<Difference> compare(const std::vector<Span>& out,
                                           const std::vector<Span>& segments) {
    for (std::size_t i = 0; i < std::max(out.size(), segments.size()); ++i) {
      const std::string given = i < out.size() ? testing::in_words(out[i]) : "no more segments";
      const std::string held = i < segments.size() ? testing::in_words(segments[i]) : "no more";
      const bool are_equal = i < out.size() && i < segments.size() && out[i] == segments[i];
      if (!are_equal) return Difference{"what the driver gave: " + given, held};
    }
    return std::nullopt;
  }

  std::optional<Difference> untiled(const SegmentInfo& segment) {
    Address next{segment.address};
    for (const BlockInfo& block : segment.blocks) {
      const Span span = span_of(block);
      if (span.begin != next || span.size == Bytes{0} || !is_multiple(span.size, Bytes{512}))
        return Difference{"a block from " + print_address(next) + " on", testing::in_words(span)};
      next = span.end();
    }
    if (next != span_of(segment).end())
      return Difference{"blocks up to " + print_address(span_of(segment).end()),
                        "blocks up to " + print_address(next)};
    count("segments");
    count("blocks", segment.blocks.size());
    return std::nullopt;
  }
};

// What the driver lacks is what the allocator has; blocks are as large as what was asked for, and
// when they are handed out, larger by no more than the size policy allows.
class Conservation final : public Promise {
 public:
  using Promise::Promise;

  std::optional<Difference> after(const Sight& sight) override {
    if (sight.deed == nullptr) return std::nullopt;
    for (std::size_t device = 0; device < sight.now.size(); ++device) {
      const Bytes memory = sight.book.memory(static_cast<DeviceIndex>(device));
      if (auto difference = unequal(memory, sight.now[device])) return difference;
    }
    for (const auto& [name, block] : sight.book.live()) {
      if (&block == sight.book.freed_by(sight.statement)) continue;
      const auto& map = sight.now[static_cast<std::size_t>(block.device)].map;
      if (auto difference = unfit(block, map)) return difference;
    }
    const auto* alloc = sight.as<Alloc>();
    if (alloc == nullptr || !sight.succeeded || alloc->size == Bytes{0}) return std::nullopt;
    return wasteful(sight, *alloc);
  }

 private:
  static std::optional<Difference> unequal(Bytes memory, const DeviceSight& device) {
    Bytes blocks;
    Bytes taken;  // The driver rounds up to 2 MiB.
    for (const SegmentInfo& segment : device.map) {
      taken += round_up(Bytes{segment.size_bytes}, Bytes{2 << 20});
      for (const BlockInfo& block : segment.blocks) blocks += Bytes{block.size_bytes};
    }
    Bytes out;
    for (const Span& span : device.out) out += span.size;
    if (blocks != out)
      return Difference{"blocks of " + print_size(out) + ", as the driver gave",
                        print_size(blocks)};
    if (taken + device.free != memory)
      return Difference{print_size(memory) + " reserved or left",
                        print_size(taken) + " and " + print_size(device.free)};
    return std::nullopt;
  }

  std::optional<Difference> unfit(const LiveBlock& live, const BlockMap& map) {
    const BlockInfo* block = find(map, live.address);
    const bool fits = block != nullptr && block->state == BlockState::active_allocated &&
                      block->requested_size_bytes == live.requested.count &&
                      block->size_bytes >= live.requested.count;
    if (fits) return std::nullopt;
    return Difference{
        "a block at " + print_address(live.address) + " for " + print_size(live.requested),
        block == nullptr ? "none" : describe(*block)};
  }

  std::optional<Difference> wasteful(const Sight& sight, const Alloc& alloc) {
    const BlockInfo* block = find(sight.device_now().map, sight.deed->address);
    if (block == nullptr || block->requested_size_bytes != alloc.size.count)
      return Difference{
          "a block at " + print_address(sight.deed->address) + " for " + print_size(alloc.size),
          block == nullptr ? "none" : describe(*block)};
    const std::uint64_t rounded = round_request(alloc.size.count, sight.book.settings());
    const std::uint64_t most = rounded + most_waste(rounded, sight.book.settings());
    if (block->size_bytes < rounded || block->size_bytes > most)
      return Difference{
          "a block of " + std::to_string(rounded) + " to " + std::to_string(most) + " bytes",
          describe(*block)};
    count("allocations");
    if (block->size_bytes > rounded) count("larger blocks");
    return std::nullopt;
  }

  static const BlockInfo* find(const BlockMap& map, Address address) {
    for (const SegmentInfo& segment : map) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.address == address.value) return &block;
      }
    }
    return nullptr;
  }
};

// An operation changes the live blocks that it names and no other. One that failed changes none,
// and free memory only by what waited becoming free, merging, or going back to the driver.
class PromisedState final : public Promise {
 public:
  using Promise::Promise;

  std::optional<Difference> after(const Sight& sight) override {
    const bool retires = sight.as<DestroyStream>() != nullptr;
    if (sight.deed == nullptr && !retires) return std::nullopt;
    auto before = blocks(sight.before, BlockState::active_allocated);
    auto now = blocks(sight.now, BlockState::active_allocated);
    if (retires) {  // The memory of a stream that was ended stands under another number.
      for (Block& block : before) block.stream = 0;
      for (Block& block : now) block.stream = 0;
    }
    if (sight.succeeded) apply(sight, before, now);
    if (auto difference = compare(before, now)) return difference;
    if (sight.succeeded) return std::nullopt;
    count("failed operations");
    if (sight.error() == ErrorCode::out_of_memory) count("out of memory");
    if (sight.error() == ErrorCode::cuda_error) count("errors of the driver");
    return changed_elsewhere(sight);
  }

 private:
  struct Block {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint64_t requested = 0;
    std::uint64_t stream = 0;
    auto operator<=>(const Block&) const = default;
  };

  static std::vector<Block> blocks(const Sights& sights, BlockState state) {
    std::vector<Block> found;
    for (const DeviceSight& device : sights) {
      for (const SegmentInfo& segment : device.map) {
        for (const BlockInfo& block : segment.blocks) {
          if (block.state != state) continue;
          found.push_back(
              {block.address, block.size_bytes, block.requested_size_bytes, segment.stream});
        }
      }
    }
    std::ranges::sort(found);
    return found;
  }

  // Takes out what the statement itself brought and took.
  static void apply(const Sight& sight, std::vector<Block>& before, std::vector<Block>& now) {
    const auto* alloc = sight.as<Alloc>();
    if (alloc != nullptr && alloc->size != Bytes{0})
      std::erase_if(now, [&](const Block& b) { return b.address == sight.deed->address.value; });
    if (const LiveBlock* freed = sight.book.freed_by(sight.statement))
      std::erase_if(before, [&](const Block& b) { return b.address == freed->address.value; });
  }

  static std::optional<Difference> compare(const std::vector<Block>& before,
                                           const std::vector<Block>& now) {
    if (before == now) return std::nullopt;
    const auto [was, is] = std::ranges::mismatch(before, now);
    return Difference{
        "live blocks as before: " + (was == before.end() ? "no more" : in_words(*was)),
        is == now.end() ? "no more" : in_words(*is)};
  }

  static std::string in_words(const Block& block) {
    return testing::in_words(Span{{block.address}, {block.size}}) + ", requested " +
           std::to_string(block.requested) + ", stream " + std::to_string(block.stream);
  }

  static std::optional<Difference> changed_elsewhere(const Sight& sight) {
    if (sight.as<DestroyStream>() == nullptr) {
      const auto waited = blocks(sight.before, BlockState::active_pending_free);
      const auto waiting = blocks(sight.now, BlockState::active_pending_free);
      if (!std::ranges::includes(waited, waiting))
        return Difference{"no new block that waits", "there is one"};
    }
    for (std::size_t device = 0; device < sight.now.size(); ++device) {
      const auto& had = sight.before[device].out;
      const auto& has = sight.now[device].out;
      if (!std::ranges::includes(had, has, {}, &Span::begin, &Span::begin))
        return Difference{"no new segment", "there is one"};
      if (sight.before[device].stats.max_split_size_bytes !=
          sight.now[device].stats.max_split_size_bytes)
        return Difference{"settings as before", "another max_split_size"};
    }
    return std::nullopt;
  }
};

}  // namespace

const NamedPromise no_overlap{"no overlap", make<NoOverlap>};
const NamedPromise tiling{"tiling", make<Tiling>};
const NamedPromise conservation{"conservation", make<Conservation>};
const NamedPromise promised_state{"promised state", make<PromisedState>};

}  // namespace cairn::testing
