// Any bytes as the text of a Program. What must hold: a text that is refused has a place and a
// reason; what parses prints, and the print parses to the same Program and prints the same again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "testing/parser.h"
#include "testing/printer.h"

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using cairn::testing::parse_program;
  using cairn::testing::print_program;
  const auto program = parse_program(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!program) {
    must(program.error().line >= 1 && program.error().column >= 1);
    must(!program.error().message.empty());
    return 0;
  }
  const std::string text = print_program(*program);
  const auto again = parse_program(text);
  must(again && *again == *program);
  must(print_program(*again) == text);
  return 0;
}
