// For tests: quantities as short exact text.
#pragma once

#include <array>
#include <cstdint>
#include <ios>
#include <ostream>
#include <string>

#include "base/units.h"

namespace cairn {

// "512B", "1KiB", "20MiB", "1GiB": exact, in the largest unit that gives a whole number.
inline std::string as_text(Bytes size) {
  static constexpr std::array units{"B", "KiB", "MiB", "GiB"};
  std::uint64_t count = size.count;
  std::size_t unit = 0;
  while (count != 0 && count % 1024 == 0 && unit + 1 < units.size()) {
    count /= 1024;
    ++unit;
  }
  return std::to_string(count) + units[unit];
}

// How GoogleTest shows them.
inline void PrintTo(Address address, std::ostream* out) {
  *out << "0x" << std::hex << address.value << std::dec;
}
inline void PrintTo(Bytes size, std::ostream* out) { *out << as_text(size); }

}  // namespace cairn
