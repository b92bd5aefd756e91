// A safe reader of Python pickles (protocols 2 to 5) that hold data alone: None, bool, int, float,
// str, bytes, list, tuple and dict. Nothing in a pickle is ever imported, called or executed: an
// opcode that would do so is refused by its name and offset.
//
// Values may share parts and may contain themselves, as in Python, so who walks one must bound the
// walk. Time and memory to read a pickle grow with its length alone: a declared length is believed
// only as far as the bytes reach.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "testing/import_result.h"

namespace cairn::testing {

class Pickle {
 public:
  enum class Kind : std::uint8_t {
    none,
    boolean,
    integer,
    huge_integer,  // Does not fit in 64 bits with a sign; its value is lost.
    real,
    text,
    bytes,
    list,
    tuple,
    dict,
  };
  // Small enough to copy. Text and containers are read through the Pickle that it came from.
  struct Value {
    Kind kind = Kind::none;
    std::uint64_t bits = 0;  // The number itself, or the place among texts or sequences.
  };
  struct Limits {
    std::size_t open_marks = 1000;              // Depth of containers under construction.
    std::size_t values = std::size_t{1} << 26;  // Pushed on the stack in all.
  };

  // The file's text must outlive the Pickle.
  static ImportResult<Pickle> read(std::string_view file, const Limits& limits);
  static ImportResult<Pickle> read(std::string_view file) { return read(file, Limits{}); }

  Value root() const { return root_; }

  // REQUIRES, for each: the kind that its name says.
  static bool boolean(Value value) { return value.bits != 0; }
  static std::int64_t integer(Value value) { return static_cast<std::int64_t>(value.bits); }
  static double real(Value value);
  std::string_view text(Value value) const { return texts_[value.bits]; }  // Of bytes as well.
  std::span<const Value> items(Value value) const { return sequences_[value.bits]; }
  // Key, value, key, value, ... in the order written; of equal keys the last counts.
  std::span<const Value> entries(Value dict) const { return sequences_[dict.bits]; }

 private:
  friend class PickleMachine;

  Value root_;
  std::vector<std::string_view> texts_;
  std::vector<std::vector<Value>> sequences_;
};

// The word for a kind as Python has it: "str", "list", ...
std::string_view to_string(Pickle::Kind kind);

}  // namespace cairn::testing
