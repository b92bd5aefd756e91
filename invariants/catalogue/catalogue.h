// What Cairn promises itself: every invariant once, with an id that never changes, what checking it
// may walk, and one sentence. The predicates in mathematical notation stand in invariants/README.md
// under the same ids. Letters: B block, S segment, P pool and index, H heap, U use by streams and
// events, L ledger (statistics), D driver protocol.
#pragma once

#include <array>
#include <cstdint>

namespace cairn::invariants {

// What one check may walk. A level (CAIRN_INVARIANTS) compiles in the checks of its cost and below.
enum class Cost : std::uint8_t { constant = 1, structure = 2, heap = 3 };

struct Invariant {
  const char* id;
  Cost cost;
  const char* words;
};

// ---- block ----
inline constexpr Invariant block_size_granular{"B1", Cost::constant,
                                               "A block's size is a positive multiple of 512."};
inline constexpr Invariant block_aligned{"B2", Cost::constant,
                                         "A block starts at a non-zero multiple of 512."};
inline constexpr Invariant block_serves_request{
    "B3", Cost::constant, "A live block is at least as large as what was requested of it."};
inline constexpr Invariant block_shares_segment{
    "B4", Cost::constant, "A block has the device, stream, pool and age of its segment."};
inline constexpr Invariant block_mapped{"B5", Cost::constant,
                                        "A block outside an expandable segment is mapped."};

// ---- segment ----
inline constexpr Invariant blocks_tile_segment{
    "S1", Cost::structure,
    "In address order, a segment's blocks cover it exactly: no gap, no overlap."};
inline constexpr Invariant block_links_agree{
    "S2", Cost::structure,
    "prev and next agree both ways; the chain starts at the segment's first block and ends."};

// ---- pool and index ----
inline constexpr Invariant free_block_indexed{"P1", Cost::heap,
                                              "A free block is in the free index of its own pool "
                                              "and stream, and in no other; none else is in one."};
inline constexpr Invariant free_index_ordered{"P2", Cost::structure,
                                              "A free index yields its blocks in strict order of "
                                              "size, age and address, each in its bin."};
inline constexpr Invariant free_index_bitmap{
    "P3", Cost::structure, "A bit of a free index is set if and only if its bin holds a block."};
inline constexpr Invariant live_table_sound{
    "P4", Cost::structure,
    "Each entry of the live table can be found from its address, once, and is counted."};
inline constexpr Invariant live_block_listed{
    "P5", Cost::heap, "The live table holds exactly the allocated blocks, under their addresses."};

inline constexpr Invariant share_counts_segments{
    "P6", Cost::heap, "A stream's share of a pool counts the segments that the stream has there."};
inline constexpr Invariant free_block_has_age{
    "P7", Cost::heap, "A free block became free at a search of its pool that there was."};
inline constexpr Invariant share_in_lane{
    "P8", Cost::heap, "The share of a stream that is not retired is in the stream's lane."};

// ---- heap ----
inline constexpr Invariant segments_disjoint{"H1", Cost::heap, "No two segments overlap."};
inline constexpr Invariant live_blocks_disjoint{"H2", Cost::heap,
                                                "No two live blocks overlap, over all segments."};
inline constexpr Invariant segment_age_unique{
    "H3", Cost::heap, "Each segment has a registration counter of its own, below the next one."};
inline constexpr Invariant block_in_one_segment{
    "H4", Cost::heap, "Every block names the segment whose chain it is in."};
inline constexpr Invariant free_neighbours_merged{"H5", Cost::heap,
                                                  "No two neighbouring blocks are both free."};
inline constexpr Invariant segment_listed{
    "H6", Cost::heap, "Each segment is listed under the address at which it begins."};

// ---- use by streams and events ----
inline constexpr Invariant event_count_not_negative{"U1", Cost::constant,
                                                    "event_count is never negative."};
inline constexpr Invariant idle_without_uses{
    "U2", Cost::constant, "A block that is free or allocated waits for no event."};
inline constexpr Invariant uses_while_live{
    "U3", Cost::constant, "Only an allocated block has uses: none that waits, and none free."};
inline constexpr Invariant uses_in_order{
    "U4", Cost::constant,
    "The uses of a block stand in order, each once, and none is its own stream."};
inline constexpr Invariant cold_part_not_empty{
    "U5", Cost::constant, "A block has a cold part only if there is something in it."};
inline constexpr Invariant cold_part_of_one_block{
    "U6", Cost::heap, "Each cold part is that of the one block under whose address it is listed."};

// ---- pending events of a device's allocator ----
inline constexpr Invariant event_count_is_queued{
    "U7", Cost::heap, "A block waits for just as many events as stand for it in the queues."};
inline constexpr Invariant event_queue_sound{
    "U8", Cost::heap, "No event queue is empty, and a fence is in the queue of a retired stream."};
inline constexpr Invariant event_in_one_place{
    "U9", Cost::heap,
    "Every event that was created is in its pool once, or in one queue, its entries in a row."};
inline constexpr Invariant event_of_stream_device{
    "U10", Cost::heap, "An event is of the device of the stream in whose queue it is."};

// ---- ledger ----
inline constexpr Invariant ledger_not_negative{
    "L1", Cost::structure, "No statistic is negative, and none is above its peak."};
inline constexpr Invariant ledger_allocated_recounts{
    "L2", Cost::heap, "allocation and allocated_bytes equal a recount of the allocated blocks."};
inline constexpr Invariant ledger_requested_recounts{
    "L3", Cost::heap, "requested_bytes equals a recount of the active blocks."};
inline constexpr Invariant ledger_active_recounts{
    "L4", Cost::heap, "active and active_bytes equal a recount of the active blocks."};
inline constexpr Invariant ledger_reserved_recounts{
    "L5", Cost::heap, "segment and reserved_bytes equal a recount of the segments."};
inline constexpr Invariant ledger_inactive_recounts{
    "L6", Cost::heap,
    "inactive_split and inactive_split_bytes equal a recount of the free blocks with a neighbour."};
inline constexpr Invariant ledger_oversize_recounts{
    "L7", Cost::heap, "The oversize statistics equal a recount of blocks and segments."};
inline constexpr Invariant ledger_pending_recounts{
    "L8", Cost::heap, "What is pending equals a recount of the blocks that wait for events."};
inline constexpr Invariant lanes_below_ceilings{
    "L9", Cost::structure,
    "No lane's part of a statistic is above its ceiling, nor the sum of ceilings above the peak."};

// ---- driver protocol: World's to see, which sees the driver ----
inline constexpr Invariant segment_from_driver{
    "D1", Cost::heap,
    "The segments of all devices are exactly the memory that the driver has out."};

inline constexpr std::array all{block_size_granular,
                                block_aligned,
                                block_serves_request,
                                block_shares_segment,
                                block_mapped,
                                blocks_tile_segment,
                                block_links_agree,
                                free_block_indexed,
                                free_index_ordered,
                                free_index_bitmap,
                                live_table_sound,
                                live_block_listed,
                                share_counts_segments,
                                free_block_has_age,
                                share_in_lane,
                                segments_disjoint,
                                live_blocks_disjoint,
                                segment_age_unique,
                                block_in_one_segment,
                                free_neighbours_merged,
                                segment_listed,
                                event_count_not_negative,
                                idle_without_uses,
                                uses_while_live,
                                uses_in_order,
                                cold_part_not_empty,
                                cold_part_of_one_block,
                                event_count_is_queued,
                                event_queue_sound,
                                event_in_one_place,
                                event_of_stream_device,
                                ledger_not_negative,
                                ledger_allocated_recounts,
                                ledger_requested_recounts,
                                ledger_active_recounts,
                                ledger_reserved_recounts,
                                ledger_inactive_recounts,
                                ledger_oversize_recounts,
                                ledger_pending_recounts,
                                lanes_below_ceilings,
                                segment_from_driver};

}  // namespace cairn::invariants
