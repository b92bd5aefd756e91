// Which opcodes there are, and what becomes of each.
#include <array>

#include "testing/pickle_machine.h"

namespace cairn::testing {
namespace {

using Machine = PickleMachine;
constexpr Machine::Opcode opcodes[] = {
    {0x80, "PROTO", &Machine::protocol},
    {0x95, "FRAME", &Machine::frame},
    {'.', "STOP", &Machine::stop},
    {'N', "NONE", &Machine::none},
    {0x88, "NEWTRUE", &Machine::true_value},
    {0x89, "NEWFALSE", &Machine::false_value},
    {'J', "BININT", &Machine::int_4},
    {'K', "BININT1", &Machine::int_1},
    {'M', "BININT2", &Machine::int_2},
    {0x8a, "LONG1", &Machine::long_1},
    {0x8b, "LONG4", &Machine::long_4},
    {'G', "BINFLOAT", &Machine::real},
    {0x8c, "SHORT_BINUNICODE", &Machine::text_1},
    {'X', "BINUNICODE", &Machine::text_4},
    {0x8d, "BINUNICODE8", &Machine::text_8},
    {'U', "SHORT_BINSTRING", &Machine::text_1},
    {'T', "BINSTRING", &Machine::text_4},
    {'C', "SHORT_BINBYTES", &Machine::bytes_1},
    {'B', "BINBYTES", &Machine::bytes_4},
    {0x8e, "BINBYTES8", &Machine::bytes_8},
    {'(', "MARK", &Machine::mark},
    {'0', "POP", &Machine::pop},
    {'1', "POP_MARK", &Machine::pop_mark},
    {'2', "DUP", &Machine::duplicate},
    {')', "EMPTY_TUPLE", &Machine::empty_tuple},
    {0x85, "TUPLE1", &Machine::tuple_1},
    {0x86, "TUPLE2", &Machine::tuple_2},
    {0x87, "TUPLE3", &Machine::tuple_3},
    {'t', "TUPLE", &Machine::tuple},
    {']', "EMPTY_LIST", &Machine::empty_list},
    {'l', "LIST", &Machine::list},
    {'a', "APPEND", &Machine::append},
    {'e', "APPENDS", &Machine::appends},
    {'}', "EMPTY_DICT", &Machine::empty_dict},
    {'d', "DICT", &Machine::dict},
    {'s', "SETITEM", &Machine::set_item},
    {'u', "SETITEMS", &Machine::set_items},
    {'q', "BINPUT", &Machine::put_1},
    {'r', "LONG_BINPUT", &Machine::put_4},
    {0x94, "MEMOIZE", &Machine::memoize},
    {'h', "BINGET", &Machine::get_1},
    {'j', "LONG_BINGET", &Machine::get_4},
    {'c', "GLOBAL", nullptr},
    {0x93, "STACK_GLOBAL", nullptr},
    {'R', "REDUCE", nullptr},
    {'b', "BUILD", nullptr},
    {'i', "INST", nullptr},
    {'o', "OBJ", nullptr},
    {0x81, "NEWOBJ", nullptr},
    {0x92, "NEWOBJ_EX", nullptr},
    {0x82, "EXT1", nullptr},
    {0x83, "EXT2", nullptr},
    {0x84, "EXT4", nullptr},
    {'P', "PERSID", nullptr},
    {'Q', "BINPERSID", nullptr},
    {0x97, "NEXT_BUFFER", nullptr},
    {0x98, "READONLY_BUFFER", nullptr},
};

const Machine::Opcode* find_opcode(std::uint8_t code) {
  static const auto by_code = [] {
    std::array<const Machine::Opcode*, 256> table{};
    for (const Machine::Opcode& opcode : opcodes) table[opcode.code] = &opcode;
    return table;
  }();
  return by_code[code];
}

std::string hexadecimal(std::uint8_t byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  return {'0', 'x', digits[byte >> 4U], digits[byte & 15U]};
}

}  // namespace

void PickleMachine::step() {
  opcode_at_ = offset_;
  opcode_name_ = "an opcode";
  const auto code = static_cast<std::uint8_t>(take_number(1));
  if (failed()) return;
  const Opcode* const opcode = find_opcode(code);
  if (!started_ && code != 0x80) {
    return fail("this is not a pickle of protocol 2 or later: it does not begin with PROTO");
  }
  if (opcode == nullptr)
    return fail("the opcode " + hexadecimal(code) + " is not one for plain data");
  opcode_name_ = opcode->name;
  if (opcode->action == nullptr) {
    return fail("the opcode " + std::string(opcode->name) +
                " is refused: it would import, call or load something");
  }
  (this->*opcode->action)();
}

}  // namespace cairn::testing
