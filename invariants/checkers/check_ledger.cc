#include <cstddef>
#include <cstdint>
#include <string>

#include "heap/heap.h"
#include "heap/ledger.h"
#include "invariants/checkers/checkers.h"

namespace cairn::invariants {
namespace {

void check_stat(const Stat& stat, const char* name) {
  expect(stat.current >= 0 && stat.allocated >= 0 && stat.freed >= 0 && stat.current <= stat.peak,
         ledger_not_negative, [&] {
           return std::string(name) + " is " + std::to_string(stat.current) + ", peak " +
                  std::to_string(stat.peak);
         });
}

void check_stat(const StatArray& stat, const char* name) {
  check_stat(stat.all, name);
  check_stat(stat.small_pool, name);
  check_stat(stat.large_pool, name);
}

// That lanes can post below their ceilings and pass no peak.
void check_ceilings(const Ledger& ledger, Quantity quantity) {
  const PooledPeak room = ledger.sum(quantity).room();
  PooledPeak shared_out;
  bool all_below = true;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    const PooledPeak& part = ledger.lane(lane).part(quantity).room;
    all_below = all_below && part.pools[0] >= 0 && part.pools[1] >= 0 && part.all >= 0;
    shared_out = {{shared_out.pools[0] + part.pools[0], shared_out.pools[1] + part.pools[1]},
                  shared_out.all + part.all};
  }
  expect(all_below && shared_out.pools[0] <= room.pools[0] &&
             shared_out.pools[1] <= room.pools[1] && shared_out.all <= room.all,
         lanes_below_ceilings, [&] {
           return "quantity " + std::to_string(static_cast<int>(quantity)) + ": " +
                  std::to_string(room.all) + " below the peak, " + std::to_string(shared_out.all) +
                  " shared out";
         });
}

// Counts and bytes of both pools, as the blocks tell them.
struct Recount {
  std::int64_t small = 0;
  std::int64_t large = 0;

  void add(PoolKind pool, std::int64_t n) { (pool == PoolKind::small ? small : large) += n; }
  bool operator==(const Recount&) const = default;
};

struct Recounts {
  Recount allocation, allocated_bytes, active, active_bytes, requested_bytes;
  Recount pending, pending_bytes;
  Recount inactive_split, inactive_split_bytes, segment, reserved_bytes;
  std::int64_t oversize_allocations = 0;
  std::int64_t oversize_segments = 0;
};

void add_block(Recounts& recounts, PoolKind pool, const Block& block, Bytes max_split_size) {
  const auto bytes = static_cast<std::int64_t>(block.size.count);
  if (block.allocated) {
    recounts.allocation.add(pool, 1);
    recounts.allocated_bytes.add(pool, bytes);
    if (block.size >= max_split_size) ++recounts.oversize_allocations;
  }
  if (!block.allocated && !block.is_free()) {
    recounts.pending.add(pool, 1);
    recounts.pending_bytes.add(pool, bytes);
  }
  if (!block.is_free()) {
    recounts.active.add(pool, 1);
    recounts.active_bytes.add(pool, bytes);
    recounts.requested_bytes.add(pool, static_cast<std::int64_t>(block.requested_size.count));
  } else if (block.is_split()) {
    recounts.inactive_split.add(pool, 1);
    recounts.inactive_split_bytes.add(pool, bytes);
  }
}

Recounts recount(const Heap& heap) {
  Recounts recounts;
  const Bytes max_split_size = heap.policy().max_split_size();
  for (const auto& [address, segment] : heap.segments()) {
    const PoolKind pool = segment.pool->kind;
    recounts.segment.add(pool, 1);
    recounts.reserved_bytes.add(pool, static_cast<std::int64_t>(segment.span.size.count));
    if (segment.span.size >= max_split_size) ++recounts.oversize_segments;
    for (const Block* block = segment.first; block != nullptr; block = block->next) {
      add_block(recounts, pool, *block, max_split_size);
    }
  }
  return recounts;
}

void compare(const StatArray& stat, const Recount& counted, const Invariant& invariant,
             const char* name) {
  const bool equal = stat.small_pool.current == counted.small &&
                     stat.large_pool.current == counted.large &&
                     stat.all.current == counted.small + counted.large;
  expect(equal, invariant, [&] {
    return std::string(name) + " is " + std::to_string(stat.small_pool.current) + " small, " +
           std::to_string(stat.large_pool.current) + " large; counted " +
           std::to_string(counted.small) + ", " + std::to_string(counted.large);
  });
}

}  // namespace

void check(const Ledger& ledger, Cost dearest) {
  if (dearest < Cost::structure) return;
  const DeviceStats stats = ledger.read();
  check_stat(stats.allocation, "allocation");
  check_stat(stats.segment, "segment");
  check_stat(stats.active, "active");
  check_stat(stats.inactive_split, "inactive_split");
  check_stat(stats.allocated_bytes, "allocated_bytes");
  check_stat(stats.reserved_bytes, "reserved_bytes");
  check_stat(stats.active_bytes, "active_bytes");
  check_stat(stats.inactive_split_bytes, "inactive_split_bytes");
  check_stat(stats.requested_bytes, "requested_bytes");
  if (ledger.counts_oversize()) {
    check_stat(stats.oversize_allocations, "oversize_allocations");
    check_stat(stats.oversize_segments, "oversize_segments");
  }
  for (std::size_t i = 0; i < quantity_count; ++i) check_ceilings(ledger, static_cast<Quantity>(i));
}

namespace {

void check_pending(const Ledger::Pending& pending, const Recounts& counted) {
  const Recount blocks{pending.blocks[0], pending.blocks[1]};
  const Recount bytes{pending.bytes[0], pending.bytes[1]};
  expect(blocks == counted.pending && bytes == counted.pending_bytes, ledger_pending_recounts, [&] {
    return "pending are " + std::to_string(blocks.small) + " small blocks, " +
           std::to_string(blocks.large) + " large; counted " +
           std::to_string(counted.pending.small) + ", " + std::to_string(counted.pending.large);
  });
}

}  // namespace

void check_recount(const Heap& heap) {
  const DeviceStats stats = heap.ledger().read();
  const Recounts counted = recount(heap);
  compare(stats.allocation, counted.allocation, ledger_allocated_recounts, "allocation");
  compare(stats.allocated_bytes, counted.allocated_bytes, ledger_allocated_recounts,
          "allocated_bytes");
  compare(stats.requested_bytes, counted.requested_bytes, ledger_requested_recounts,
          "requested_bytes");
  compare(stats.active, counted.active, ledger_active_recounts, "active");
  compare(stats.active_bytes, counted.active_bytes, ledger_active_recounts, "active_bytes");
  compare(stats.segment, counted.segment, ledger_reserved_recounts, "segment");
  compare(stats.reserved_bytes, counted.reserved_bytes, ledger_reserved_recounts, "reserved_bytes");
  compare(stats.inactive_split, counted.inactive_split, ledger_inactive_recounts, "inactive_split");
  compare(stats.inactive_split_bytes, counted.inactive_split_bytes, ledger_inactive_recounts,
          "inactive_split_bytes");
  expect(!heap.ledger().counts_oversize() ||
             (stats.oversize_allocations.current == counted.oversize_allocations &&
              stats.oversize_segments.current == counted.oversize_segments),
         ledger_oversize_recounts, [&] {
           return "counted " + std::to_string(counted.oversize_allocations) + " blocks and " +
                  std::to_string(counted.oversize_segments) + " segments";
         });
  check_pending(heap.ledger().pending(), counted);
}

}  // namespace cairn::invariants
