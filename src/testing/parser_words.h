// The words of the language that stand for a value, for parser and printer alike.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "testing/program.h"

namespace cairn::testing {

template <class T>
struct Spelling {
  std::string_view word;
  T value;
};

inline constexpr auto error_words = std::to_array<Spelling<ErrorCode>>({
    {"out_of_memory", ErrorCode::out_of_memory},
    {"rejected", ErrorCode::rejected},
    {"invalid_argument", ErrorCode::invalid_argument},
    {"cuda_error", ErrorCode::cuda_error},
    {"unsupported", ErrorCode::unsupported},
});
inline constexpr auto pool_words = std::to_array<Spelling<PoolKind>>({
    {"small", PoolKind::small},
    {"large", PoolKind::large},
});
inline constexpr auto state_words = std::to_array<Spelling<BlockState>>({
    {"active_allocated", BlockState::active_allocated},
    {"active_pending_free", BlockState::active_pending_free},
    {"inactive", BlockState::inactive},
});
inline constexpr auto mode_words = std::to_array<Spelling<CaptureMode>>({
    {"global", CaptureMode::global},
    {"thread_local", CaptureMode::thread_local_mode},
    {"relaxed", CaptureMode::relaxed},
});
inline constexpr auto reset_words = std::to_array<Spelling<ResetWhat>>({
    {"calls", ResetWhat::calls},
    {"peak", ResetWhat::peak},
    {"accumulated", ResetWhat::accumulated},
});
inline constexpr auto comparison_words = std::to_array<Spelling<Comparison>>({
    {"==", Comparison::equal},
    {"!=", Comparison::not_equal},
    {"<", Comparison::less},
    {"<=", Comparison::less_equal},
    {">", Comparison::greater},
    {">=", Comparison::greater_equal},
});

// These name nothing of a Program's own.
inline constexpr std::array<std::string_view, 6> reserved_words = {"small", "large", "null",
                                                                   "on",    "s0",    "ptds"};

template <class T, std::size_t n>
std::optional<T> meaning(const std::array<Spelling<T>, n>& words, std::string_view word) {
  for (const auto& spelling : words)
    if (spelling.word == word) return spelling.value;
  return std::nullopt;
}

// REQUIRES: `value` is among the words.
template <class T, std::size_t n>
std::string spell(const std::array<Spelling<T>, n>& words, T value) {
  for (const auto& spelling : words)
    if (spelling.value == value) return std::string(spelling.word);
  return {};
}

template <class T, std::size_t n>
std::string all_words(const std::array<Spelling<T>, n>& words) {
  std::string all;
  for (const auto& spelling : words) all.append(all.empty() ? "" : ", ").append(spelling.word);
  return all;
}

}  // namespace cairn::testing
