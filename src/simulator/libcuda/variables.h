// The settings of the environment that are numbers or words (control.h says what they mean), for
// each of the simulated libraries: what they take, and the one place that reads them. What is not
// taken is refused in words on stderr, each refusal once.
//
// Thread safety: all.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::simulator {

struct NumberVariable {
  const char* name;
  std::uint64_t otherwise;  // Where it is not set.
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

struct WordVariable {
  const char* name;
  const char* words[3];  // The first where it is not set; a null is none.
};

namespace variables {

// Each device has 2^40 addresses of its own.
inline constexpr NumberVariable devices{"CAIRN_SIM_DEVICES", 1, 64};
inline constexpr NumberVariable memory{"CAIRN_SIM_MEMORY", std::uint64_t{80} << 30,
                                       std::uint64_t{1} << 40};
inline constexpr NumberVariable kernel_ticks{"CAIRN_SIM_KERNEL_TICKS", 1000};
inline constexpr NumberVariable query_ticks{"CAIRN_SIM_QUERY_TICKS", 1000};
inline constexpr NumberVariable cuda_version{"CAIRN_SIM_CUDA_VERSION", 13000, 1000000};
inline constexpr NumberVariable processes{"CAIRN_SIM_PROCESSES", 1, 1000000};
inline constexpr WordVariable backed{"CAIRN_SIM_BACKED", {"0", "1", nullptr}};
inline constexpr WordVariable free_waits{"CAIRN_SIM_FREE_WAITS", {"1", "0", nullptr}};
inline constexpr WordVariable judge{"CAIRN_SIM_JUDGE", {"print", "quiet", "abort"}};

}  // namespace variables

// What it is set to. None: that is not taken, which was said.
std::optional<std::uint64_t> value_of(const NumberVariable& variable);
// The same as a place in its words.
std::optional<std::size_t> value_of(const WordVariable& variable);
// The same of text that is neither; null where it is not set.
const char* text_of_variable(const char* name);

// Whether all of them are taken.
bool are_variables_good();

// Digits alone.
std::optional<std::uint64_t> whole_number(std::string_view text);
// Says it on stderr.
void refuse(const std::string& why);

}  // namespace cairn::simulator
