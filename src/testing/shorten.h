// Delta debugging (Zeller and Hildebrandt, 2002) of any sequence.
// Thread safety: a pure function.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace cairn::testing {

// Takes items out as long as `finds` says yes of what is left, which it is asked so often at most.
// REQUIRES: it says yes of all of them.
template <class Item>
std::vector<Item> shorten(std::vector<Item> items,
                          const std::function<bool(const std::vector<Item>&)>& finds,
                          int most_asked) {
  std::size_t count = (items.size() + 1) / 2;
  while (count > 0) {
    bool went = false;
    for (std::size_t first = 0; first < items.size();) {
      if (most_asked-- == 0) return items;
      std::vector<Item> left = items;
      const auto begin = left.begin() + static_cast<std::ptrdiff_t>(first);
      left.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(count, items.size() - first)));
      if (finds(left)) {
        items = std::move(left);
        went = true;
      } else {
        first += count;
      }
    }
    if (!went || count > items.size()) count /= 2;
  }
  return items;
}

}  // namespace cairn::testing
