// The text form of a Program: what parse_program() reads back as an equal one.
// Thread safety: pure functions.
#pragma once

#include <string>

#include "testing/program.h"

namespace cairn::testing {

std::string print_program(const Program& program);

// One line without its end; of a `during` or `parallel` its body too, on lines of its own.
std::string print_statement(const Statement& statement);

std::string print_size(Bytes size);  // In the largest unit in which it is whole: "1536KiB".
std::string print_address(Address address);

}  // namespace cairn::testing
