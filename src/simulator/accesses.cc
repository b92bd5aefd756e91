#include "simulator/accesses.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "simulator/spans.h"

namespace cairn::simulator {
namespace {

constexpr auto span_of = [](const auto& cell) { return cell.span; };

bool conflict(const Access& a, const Access& b) {
  return a.ownership != b.ownership && !(a.is_read_only && b.is_read_only);
}

// Whether `earlier` can be forgotten, now that the later one comes after it.
bool is_covered(Access& earlier, const Access& later) {
  if (later.is_read_only && !earlier.is_read_only) return false;
  if (earlier.ownership == later.ownership) return true;
  if (earlier.covered_in == 0) earlier.covered_in = later.ownership;
  return earlier.covered_in != later.ownership;
}

// Of several accesses of one kernel, or of cells beside each other, one is told.
void add_new(std::vector<Access>& conflicts, const Access& access) {
  const auto same = [&access](const Access& other) { return other.kernel == access.kernel; };
  if (std::none_of(conflicts.begin(), conflicts.end(), same)) conflicts.push_back(access);
}

}  // namespace

void Accesses::weigh(std::vector<Access>& earlier, const Access& access, const Clock& before,
                     std::vector<Access>& conflicts) const {
  std::size_t kept = 0;
  for (Access& each : earlier) {
    if (host_.has_seen(each.stream, each.kernel)) continue;
    if (before.of(each.stream) >= each.kernel) {
      if (is_covered(each, access)) continue;
    } else if (conflict(each, access)) {
      add_new(conflicts, each);
    }
    earlier[kept++] = each;
  }
  earlier.resize(kept);
}

Accesses::Cells::iterator Accesses::first_of(Span range) {
  return first_overlapping(cells_, range, span_of);
}

void Accesses::cut(Address at) {
  const auto found = first_of({at, Bytes{1}});
  if (found == cells_.end() || found->first == at) return;
  Cell& cell = found->second;
  const Span rest{at, cell.span.end() - at};
  cell.span.size = at - cell.span.begin;
  cells_.emplace_hint(std::next(found), at, Cell{rest, cell.accesses});
}

std::vector<Access> Accesses::add(Span range, const Access& access, const Clock& before) {
  cut(range.begin);
  cut(range.end());
  std::vector<Access> conflicts;
  Address covered = range.begin;  // Up to here each byte is in a cell with the access.
  const auto cover = [&](Cells::iterator next, Address end) {
    if (covered < end) {
      cells_.emplace_hint(next, covered, Cell{{covered, end - covered}, {access}});
    }
    covered = end;
  };
  auto cell = first_of(range);
  while (cell != cells_.end() && cell->first < range.end()) {
    std::vector<Access>& earlier = cell->second.accesses;
    weigh(earlier, access, before, conflicts);
    if (earlier.empty()) {
      cell = cells_.erase(cell);
      continue;
    }
    cover(cell, cell->first);
    earlier.push_back(access);
    covered = cell->second.span.end();
    ++cell;
  }
  cover(cell, range.end());
  merge(range);
  return conflicts;
}

void Accesses::merge(Span range) {
  auto cell = cells_.find(range.begin);
  for (auto next = std::next(cell); next != cells_.end() && next->first < range.end();) {
    if (next->second.accesses == cell->second.accesses) {
      cell->second.span.size += next->second.span.size;
      next = cells_.erase(next);
    } else {
      cell = next++;
    }
  }
}

const Access* Accesses::running(Span range, Ticks now) const {
  const Access* found = nullptr;
  auto cell = first_overlapping(cells_, range, span_of);
  for (; cell != cells_.end() && cell->first < range.end(); ++cell) {
    for (const Access& access : cell->second.accesses) {
      if (access.done_at > now && (found == nullptr || found->is_untold)) found = &access;
    }
  }
  return found;
}

void Accesses::forget(Span range) {
  cut(range.begin);
  cut(range.end());
  cells_.erase(cells_.lower_bound(range.begin), cells_.lower_bound(range.end()));
}

void Accesses::prune() {
  for (auto cell = cells_.begin(); cell != cells_.end();) {
    std::erase_if(cell->second.accesses, [this](const Access& access) {
      return host_.has_seen(access.stream, access.kernel);
    });
    cell = cell->second.accesses.empty() ? cells_.erase(cell) : std::next(cell);
  }
}

std::unordered_set<StreamNumber> Accesses::streams() const {
  std::unordered_set<StreamNumber> streams;
  for (const auto& [begin, cell] : cells_) {
    for (const Access& access : cell.accesses) streams.insert(access.stream);
  }
  return streams;
}

}  // namespace cairn::simulator
