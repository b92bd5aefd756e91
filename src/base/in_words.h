// Places in memory as messages write them: "0x100000000000", "2097152 bytes at 0x100000000000",
// " on device 0".
#pragma once

#include <array>
#include <charconv>
#include <string>

#include "base/ids.h"
#include "base/units.h"

namespace cairn {

inline std::string in_words(Address address) {
  std::array<char, 16> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), address.value, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

inline std::string in_words(Span span) {
  return std::to_string(span.size.count) + " bytes at " + in_words(span.begin);
}

inline std::string on_device(DeviceIndex device) { return " on device " + std::to_string(device); }

}  // namespace cairn
