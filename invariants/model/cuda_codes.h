// The codes of the CUDA driver that decide something.
#pragma once

namespace cairn::model {

inline constexpr int success = 0;
inline constexpr int out_of_memory = 2;
inline constexpr int invalid_handle = 400;
inline constexpr int not_supported = 801;

// Codes after which the device is of no more use.
constexpr bool is_sticky_code(int code) {
  for (const int one : {201, 214, 220, 226, 700, 702, 709, 710, 721, 911}) {
    if (code == one) return true;
  }
  return (code >= 714 && code <= 719) || (code >= 805 && code <= 810);
}

}  // namespace cairn::model
