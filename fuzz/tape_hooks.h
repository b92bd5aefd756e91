// How libFuzzer edits and crosses inputs that are tapes. Defines the functions that it looks for by
// their names, so each target of tapes includes this once.
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/tape_mutator.h"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most_bytes, unsigned seed) {
  return cairn::fuzz::mutate_tape(data, size, most_bytes, seed);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(  // NOLINT(readability-function-size): libFuzzer's
    const std::uint8_t* first, std::size_t first_size, const std::uint8_t* second,
    std::size_t second_size, std::uint8_t* out, std::size_t most_bytes, unsigned seed) {
  return cairn::fuzz::cross_tapes(std::span(first, first_size), std::span(second, second_size),
                                  std::span(out, most_bytes), seed);
}
