// Edits of tapes for a fuzzer: each changes operations or fields of them, never bytes across their
// borders, so that what is not changed means what it meant. What comes of it is a whole tape, and
// the same bytes, limit and seed give the same.
//
// Thread safety: pure functions, but for the mutator of libFuzzer that bytes are now and then given
// to where there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "testing/dice.h"
#include "testing/op.h"

namespace cairn::fuzz {

enum class TapeEdit : std::uint8_t {
  insert,        // Operations drawn with one taste (OpDraws).
  erase,         // A range.
  duplicate,     // A range, at another place.
  move,          // A range, likewise.
  swap,          // Two operations.
  change_field,  // One field of one operation.
  change_size,   // Of an allocation: to a border of the size policy, or to a size nearby.
  burst,         // One operation many times, each with a block and luck of its own.
  change_setup,  // One field, or all of them (OpDraws).
  bytes          // Anything, by libFuzzer's own mutator.
};
inline constexpr std::size_t tape_edit_count = 10;

// Makes that edit. The tape has at most so many operations afterwards if it had before. False where
// it does not apply: there are too few operations, there is no room, or no libFuzzer.
bool edit(testing::Tape& tape, TapeEdit kind, std::size_t most_ops, testing::Dice& dice);

// What LLVMFuzzerCustomMutator and LLVMFuzzerCustomCrossOver are to do. Each returns how many bytes
// it left in `data` or `out`; no more than the limit, and some, unless the limit is 0.
std::size_t mutate_tape(std::uint8_t* data, std::size_t size, std::size_t most_bytes,
                        unsigned seed);
// The beginning of the one and the end of the other, with the setup of either.
std::size_t cross_tapes(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second,
                        std::span<std::uint8_t> out, unsigned seed);

}  // namespace cairn::fuzz
