// What saboteurs share: a small sound heap, the way to write to what it shows as const, and the ids
// that a checker reports. A saboteur breaks one promise and expects its id; where what it breaks
// cannot leave the others whole, it names these too.
#pragma once

#include <set>
#include <string>

#include "cairn/options.h"
#include "heap/heap.h"
#include "invariants/checkers/checkers.h"

namespace cairn::invariants {

using namespace cairn::literals;

using Ids = std::set<std::string>;

inline Ids ids_of(const Recorder& recorder) {
  Ids ids;
  for (const Violation& violation : recorder.violations()) ids.insert(violation.invariant.id);
  return ids;
}

// The ids of all that does not hold of a structure.
template <class Structure>
Ids broken_in(const Structure& structure) {
  const Recorder recorder;
  check(structure, Cost::heap);
  return ids_of(recorder);
}
inline Ids broken_in(const Block& block) {
  const Recorder recorder;
  check_block(block);
  return ids_of(recorder);
}

inline bool contains(const Ids& ids, const char* id) { return ids.count(id) != 0; }

// Saboteurs alone write to what a structure shows as const.
template <class T>
T& writable(const T& shown) {
  return const_cast<T&>(shown);
}

inline constexpr Address large_begin{0x7e0000000000};
inline constexpr Address small_begin{0x7e0040000000};
inline constexpr Address spare_begin{0x7e0080000000};
inline constexpr StreamId stream_0{0};
inline constexpr StreamId stream_1{1};

// A sound heap in three segments, made through its own calls:
//   large, stream 0   | a: 4 MiB live | hole: 3 MiB free | b: 2 MiB live | rest: 11 MiB free |
//   small, stream 0   | c: 1 KiB live | the rest, free |
//   large, stream 1   | spare: 20 MiB, free |
// What guards in the heap's own calls report of a broken heap is dropped.
struct SmallHeap {
  explicit SmallHeap(const Options& options = {})
      : heap(0, options),
        a(in_new_segment({stream_0, 4_MiB - 100_B}, {large_begin, 20_MiB})),
        hole(handed_out({stream_0, 3_MiB})),
        b(handed_out({stream_0, 2_MiB})),
        rest(*b.next),
        c(in_new_segment({stream_0, 1000_B}, {small_begin, 2_MiB})),
        spare(in_new_segment({stream_1, 20_MiB}, {spare_begin, 20_MiB})) {
    heap.free(hole);
    heap.free(spare);
  }

  Block& handed_out(const HeapRequest& request) { return writable(*heap.allocate(request)); }
  Block& in_new_segment(const HeapRequest& request, Span span) {
    heap.reserve_segment(request);
    return writable(*heap.allocate_in_new_segment(request, span));
  }

  LiveTable& live(StreamId stream = stream_0) {
    return writable(heap.lanes()[lane_of(stream)].live);
  }

  Recorder dropped;
  Heap heap;
  Block& a;
  Block& hole;
  Block& b;
  Block& rest;
  Block& c;
  Block& spare;
};

}  // namespace cairn::invariants
