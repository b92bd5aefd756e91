// Which kernels have accessed which bytes, as far as a later access may still be unordered with
// them. The bytes are cut into cells, in each of which all were accessed by the same kernels.
//
// An access is forgotten when the host has seen it done, or when a later one comes after it and
// stands for it too: a write for all, a read for reads.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

#include "base/units.h"
#include "simulator/clock.h"
#include "simulator/host_view.h"

namespace cairn::simulator {

// A time for which the program holds a range, from when it was handed the range until it gave it
// back; counted from 1.
using OwnershipNumber = std::uint64_t;

struct Access {
  StreamNumber stream = StreamNumber::none;
  KernelNumber kernel = 0;
  Ticks done_at = 0;
  OwnershipNumber ownership = 0;
  bool is_read_only = false;
  // When the range was given back, nobody could know of it: neither was it the range's own stream's
  // or one's that the allocator had been told of, nor did the own stream wait for it.
  bool is_untold = false;
};

class Accesses {
 public:
  explicit Accesses(const HostView& host) : host_(host) {}

  // In the functions below ranges are not empty.

  // The access takes place, by a kernel that comes after `before`. Gives the earlier ones of other
  // ownerships with which it is in conflict: it is not ordered with them, and not all only read.
  std::vector<Access> add(Span range, const Access& access, const Clock& before);

  // Some access to the range that is not done at that time; null: there is none. One that is not
  // untold comes first.
  const Access* running(Span range, Ticks now) const;
  // The memory itself is gone.
  void forget(Span range);

  // Calls `change` for the accesses of cells that overlap the range.
  template <class Change>
  void for_each(Span range, Change change) {
    for (auto cell = first_of(range); cell != cells_.end() && cell->first < range.end(); ++cell) {
      for (Access& access : cell->second.accesses) change(access);
    }
  }

  // Forgets what the host has seen done.
  void prune();
  std::unordered_set<StreamNumber> streams() const;
  std::size_t size() const { return cells_.size(); }

 private:
  struct Cell {
    Span span;
    std::vector<Access> accesses;
  };
  using Cells = std::map<Address, Cell>;  // By beginning; disjoint.

  bool comes_after(const Access& earlier, StreamNumber stream, const Clock& before) const;
  Cells::iterator first_of(Span range);
  // Makes a cell end, and another begin, at that address, if one is there.
  void cut(Address at);

  const HostView& host_;
  Cells cells_;
};

}  // namespace cairn::simulator
