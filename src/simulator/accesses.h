// Which kernels have accessed which bytes, as far as a later access may still be unordered with
// them. The bytes are cut into cells, in each of which all were accessed by the same kernels.
//
// An access is forgotten when the host has seen it done, or when later ones come after it and stand
// for it too (a write stands for all, a read for reads). One of the same ownership is enough. Of
// another ownership it is not: what comes later in that ownership may be unordered with both, which
// is allowed as to the one, but not as to the other. It takes a third ownership's.
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
  OwnershipNumber covered_in = 0;  // Where the first access was that stands for it; 0: none is.

  friend bool operator==(const Access&, const Access&) = default;
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

  // Calls visit(span, accesses) for each run of bytes that were accessed alike, in order.
  template <class Visit>
  void for_each_cell(Visit visit) const {
    for (const auto& [begin, cell] : cells_) visit(cell.span, cell.accesses);
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

  // Drops those of a cell's accesses that the new one makes needless, and adds to `conflicts` those
  // that it is in conflict with.
  void weigh(std::vector<Access>& earlier, const Access& access, const Clock& before,
             std::vector<Access>& conflicts) const;
  Cells::iterator first_of(Span range);
  // Makes a cell end, and another begin, at that address, if one is there.
  void cut(Address at);
  // Makes one cell of those in the range that lie side by side and are alike.
  void merge(Span range);

  const HostView& host_;
  Cells cells_;
};

}  // namespace cairn::simulator
