#include "fuzz/parsing.h"

#include <cstdlib>
#include <string>

#include "testing/parser.h"
#include "testing/printer.h"

namespace cairn::fuzz {

void must(bool holds) {
  if (!holds) std::abort();
}

void must_print(const testing::Program& program) {
  const std::string text = print_program(program);
  const auto again = testing::parse_program(text);
  must(again && *again == program);
  must(print_program(*again) == text);
}

void must_be_whole(const testing::ImportResult<testing::Imported>& imported) {
  if (imported) return must_print((*imported).program);
  must(!imported.error().why.empty());
}

}  // namespace cairn::fuzz
