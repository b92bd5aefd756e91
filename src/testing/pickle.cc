#include "testing/pickle.h"

#include <bit>

#include "testing/pickle_machine.h"

namespace cairn::testing {

ImportResult<Pickle> PickleMachine::run() {
  while (!stopped_ && !failed()) step();
  if (failed()) return Failure{*error_};
  return std::move(pickle_);
}

void PickleMachine::fail(std::string why) {
  if (!failed()) error_ = ImportError{"byte " + std::to_string(opcode_at_), std::move(why)};
}

std::string_view PickleMachine::take(std::uint64_t length) {
  if (failed()) return {};
  const std::uint64_t left = file_.size() - offset_;
  if (length > left) {
    fail("the file ends within " + std::string(opcode_name_) + ": " + std::to_string(length) +
         " bytes are announced, " + std::to_string(left) + " are left");
    return {};
  }
  const std::string_view taken = file_.substr(offset_, length);
  offset_ += length;
  return taken;
}

// An unsigned number of `width` bytes, the lowest first.
std::uint64_t PickleMachine::take_number(unsigned width) {
  std::uint64_t number = 0;
  unsigned shift = 0;
  for (const char byte : take(width)) {
    number |= std::uint64_t{static_cast<std::uint8_t>(byte)} << shift;
    shift += 8;
  }
  return number;
}

std::vector<Pickle::Value> PickleMachine::take_top(std::size_t count) {
  if (stack_.size() < floor() + count) {
    fail(std::string(opcode_name_) + " finds too few values on the stack");
    return {};
  }
  const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<Value> taken(first, stack_.end());
  stack_.erase(first, stack_.end());
  return taken;
}

std::vector<Pickle::Value> PickleMachine::take_marked() {
  if (marks_.empty()) {
    fail(std::string(opcode_name_) + " finds no mark on the stack");
    return {};
  }
  auto taken = take_top(stack_.size() - marks_.back());
  marks_.pop_back();
  return taken;
}

void PickleMachine::push(Value value) {
  if (failed()) return;
  if (++pushed_ > limits_.values) {
    return fail("more than " + std::to_string(limits_.values) + " values, the limit");
  }
  stack_.push_back(value);
}

void PickleMachine::push_long(std::uint64_t length) {
  const std::string_view digits = take(length);
  if (failed()) return;
  const bool negative = !digits.empty() && (static_cast<std::uint8_t>(digits.back()) & 0x80U) != 0;
  std::uint64_t number = negative ? ~std::uint64_t{0} : 0;
  const char filler = negative ? '\xff' : '\0';
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i >= 8 && digits[i] != filler) return push({Kind::huge_integer});
    if (i >= 8) continue;
    const auto shift = static_cast<unsigned>(8 * i);
    number &= ~(std::uint64_t{0xff} << shift);
    number |= std::uint64_t{static_cast<std::uint8_t>(digits[i])} << shift;
  }
  const bool sign_lost = digits.size() > 8 && (number >> 63U != 0) != negative;
  push({sign_lost ? Kind::huge_integer : Kind::integer, number});
}

void PickleMachine::push_text(Kind kind, std::uint64_t length) {
  const std::string_view text = take(length);
  if (failed()) return;
  push({kind, pickle_.texts_.size()});
  pickle_.texts_.push_back(text);
}

void PickleMachine::push_sequence(Kind kind, std::vector<Value> items) {
  if (failed()) return;
  push({kind, pickle_.sequences_.size()});
  pickle_.sequences_.push_back(std::move(items));
}

void PickleMachine::extend(Kind kind, const std::vector<Value>& items) {
  if (failed()) return;
  if (stack_.size() == floor() || stack_.back().kind != kind) {
    return fail(std::string(opcode_name_) + " finds no " + std::string(to_string(kind)) +
                " on the stack");
  }
  if (kind == Kind::dict && items.size() % 2 != 0) return fail("a key without a value");
  auto& target = pickle_.sequences_[stack_.back().bits];
  target.insert(target.end(), items.begin(), items.end());
}

void PickleMachine::remember(std::uint64_t place) {
  if (failed()) return;
  if (stack_.size() == floor())
    return fail(std::string(opcode_name_) + " finds nothing to remember");
  if (memo_.size() == limits_.values && !memo_.contains(place)) {
    return fail("more than " + std::to_string(limits_.values) + " values in the memo, the limit");
  }
  memo_[place] = stack_.back();
}

void PickleMachine::recall(std::uint64_t place) {
  if (failed()) return;
  const auto found = memo_.find(place);
  if (found == memo_.end()) {
    return fail("memo entry " + std::to_string(place) + " was never stored");
  }
  push(found->second);
}

void PickleMachine::protocol() {
  const std::uint64_t version = take_number(1);
  if (failed()) return;
  if (version < 2 || version > 5) {
    return fail("pickle protocol " + std::to_string(version) + "; 2 to 5 are known");
  }
  started_ = true;
}

void PickleMachine::frame() {
  const std::uint64_t length = take_number(8);
  if (failed()) return;
  const std::uint64_t left = file_.size() - offset_;
  if (length > left) {
    fail("a frame of " + std::to_string(length) + " bytes, but " + std::to_string(left) +
         " are left");
  }
}

void PickleMachine::stop() {
  if (!marks_.empty() || stack_.size() != 1) {
    return fail("STOP with " + std::to_string(stack_.size()) + " values and " +
                std::to_string(marks_.size()) + " marks on the stack, not with one value");
  }
  if (offset_ != file_.size()) {
    return fail(std::to_string(file_.size() - offset_) + " bytes follow the end of the pickle");
  }
  pickle_.root_ = stack_.back();
  stopped_ = true;
}

void PickleMachine::real() {  // The one number that is written with its highest byte first.
  std::uint64_t bits = 0;
  for (const char byte : take(8)) bits = bits << 8U | static_cast<std::uint8_t>(byte);
  push({Kind::real, bits});
}

void PickleMachine::mark() {
  if (marks_.size() == limits_.open_marks) {
    return fail("nested more than " + std::to_string(limits_.open_marks) + " deep, the limit");
  }
  marks_.push_back(stack_.size());
}

void PickleMachine::pop() {  // Of a mark, where nothing stands above it, as in Python.
  if (!marks_.empty() && stack_.size() == marks_.back()) {
    marks_.pop_back();
  } else {
    take_top(1);
  }
}

void PickleMachine::duplicate() {
  if (stack_.size() == floor()) return fail("DUP finds nothing on the stack");
  push(stack_.back());
}

void PickleMachine::dict() {
  auto items = take_marked();
  if (items.size() % 2 != 0) return fail("a key without a value");
  push_sequence(Kind::dict, std::move(items));
}

ImportResult<Pickle> Pickle::read(std::string_view file, const Limits& limits) {
  return PickleMachine(file, limits).run();
}

double Pickle::real(Value value) { return std::bit_cast<double>(value.bits); }

std::string_view to_string(Pickle::Kind kind) {
  constexpr std::string_view names[] = {"None",  "bool", "int",   "int beyond 64 bits",
                                        "float", "str",  "bytes", "list",
                                        "tuple", "dict"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace cairn::testing
