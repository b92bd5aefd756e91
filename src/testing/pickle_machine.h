// The stack machine that a pickle is a program for; see pickle.h for what it accepts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "testing/pickle.h"

namespace cairn::testing {

// Runs the opcodes of one pickle. After the first fault it does nothing more.
class PickleMachine {
 public:
  using Kind = Pickle::Kind;
  using Value = Pickle::Value;

  PickleMachine(std::string_view file, const Pickle::Limits& limits)
      : file_(file), limits_(limits) {}

  ImportResult<Pickle> run();

  // One opcode: its byte, its name in Python's pickletools, and what it does. Without an action it
  // is known and refused: it would import, call or load something.
  struct Opcode {
    std::uint8_t code;
    std::string_view name;
    void (PickleMachine::*action)();
  };

  // ---- structure of the file ----
  void protocol();
  void frame();
  void stop();
  // ---- scalars ----
  void none() { push({Kind::none}); }
  void true_value() { push({Kind::boolean, 1}); }
  void false_value() { push({Kind::boolean, 0}); }
  void int_4() { push_integer(static_cast<std::int32_t>(take_number(4))); }
  void int_1() { push_integer(static_cast<std::int64_t>(take_number(1))); }
  void int_2() { push_integer(static_cast<std::int64_t>(take_number(2))); }
  void long_1() { push_long(take_number(1)); }
  void long_4() { push_long(take_number(4)); }
  void real();
  void text_1() { push_text(Kind::text, take_number(1)); }
  void text_4() { push_text(Kind::text, take_number(4)); }
  void text_8() { push_text(Kind::text, take_number(8)); }
  void bytes_1() { push_text(Kind::bytes, take_number(1)); }
  void bytes_4() { push_text(Kind::bytes, take_number(4)); }
  void bytes_8() { push_text(Kind::bytes, take_number(8)); }
  // ---- containers ----
  void mark();
  void pop();
  void pop_mark() { take_marked(); }
  void duplicate();
  void empty_tuple() { push_sequence(Kind::tuple, {}); }
  void tuple_1() { push_sequence(Kind::tuple, take_top(1)); }
  void tuple_2() { push_sequence(Kind::tuple, take_top(2)); }
  void tuple_3() { push_sequence(Kind::tuple, take_top(3)); }
  void tuple() { push_sequence(Kind::tuple, take_marked()); }
  void empty_list() { push_sequence(Kind::list, {}); }
  void list() { push_sequence(Kind::list, take_marked()); }
  void append() { extend(Kind::list, take_top(1)); }
  void appends() { extend(Kind::list, take_marked()); }
  void empty_dict() { push_sequence(Kind::dict, {}); }
  void dict();
  void set_item() { extend(Kind::dict, take_top(2)); }
  void set_items() { extend(Kind::dict, take_marked()); }
  // ---- memo ----
  void put_1() { remember(take_number(1)); }
  void put_4() { remember(take_number(4)); }
  void memoize() { remember(memo_.size()); }
  void get_1() { recall(take_number(1)); }
  void get_4() { recall(take_number(4)); }

 private:
  void step();
  void fail(std::string why);
  bool failed() const { return error_.has_value(); }
  std::string_view take(std::uint64_t length);
  std::uint64_t take_number(unsigned width);
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  std::vector<Value> take_top(std::size_t count);
  std::vector<Value> take_marked();
  void push(Value value);
  void push_integer(std::int64_t value) {
    push({Kind::integer, static_cast<std::uint64_t>(value)});
  }
  void push_long(std::uint64_t length);
  void push_text(Kind kind, std::uint64_t length);
  void push_sequence(Kind kind, std::vector<Value> items);
  void extend(Kind kind, const std::vector<Value>& items);
  void remember(std::uint64_t place);
  void recall(std::uint64_t place);

  std::string_view file_;
  Pickle::Limits limits_;
  Pickle pickle_;
  std::size_t offset_ = 0;     // Of the next byte.
  std::size_t opcode_at_ = 0;  // Of the opcode that runs.
  std::string_view opcode_name_;
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;  // Each the height of the stack when it was set.
  std::unordered_map<std::uint64_t, Value> memo_;
  std::size_t pushed_ = 0;
  bool started_ = false;
  bool stopped_ = false;
  std::optional<ImportError> error_;
};

}  // namespace cairn::testing
