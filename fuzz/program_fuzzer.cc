// Any bytes as the text of a Program. What must hold: a text that is refused has a place and a
// reason; what parses prints, and the print parses to the same Program and prints the same again;
// and World, which carries out a short one that announces the ends of its streams, finds nothing,
// whatever the Program expects.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <variant>

#include "fuzz/findings.h"
#include "fuzz/fuzz_world.h"
#include "fuzz/parsing.h"
#include "testing/parser.h"
#include "testing/play.h"

namespace {

using namespace cairn::testing;
using cairn::fuzz::must;

constexpr std::size_t most_statements = 64;
constexpr cairn::DeviceIndex highest_device = 2;
constexpr int highest_cheap_thread = 3;

// So that a run costs little: each device and thread is there for all of it.
bool is_cheap(const Program& program) {
  return program.statements.size() <= most_statements &&
         std::ranges::all_of(program.statements, [](const Statement& statement) {
           const auto* gpu = std::get_if<GpuDecl>(&statement.operation);
           const bool is_far = gpu != nullptr && gpu->device > highest_device;
           return !is_far && statement.thread.value_or(0) <= highest_cheap_thread;
         });
}

// A stream that ends unannounced, and another with its handle, are one to the allocator: a limit
// that README.md names, and that the judge does not know.
bool ends_streams_unannounced(const Program& program) {
  return std::ranges::any_of(program.statements, [](const Statement& statement) {
    const auto* destroy = std::get_if<DestroyStream>(&statement.operation);
    return destroy != nullptr && destroy->unannounced;
  });
}

// Without what the Program expects: what World finds then is a fault, of the allocator or its own.
Program without_expectations(Program program) {
  std::erase_if(program.statements, [](const Statement& statement) {
    return std::holds_alternative<Expect>(statement.operation) ||
           std::holds_alternative<ExpectSegment>(statement.operation) ||
           std::holds_alternative<ExpectBlock>(statement.operation);
  });
  for (Statement& statement : program.statements)
    if (auto* alloc = std::get_if<Alloc>(&statement.operation)) alloc->expected.reset();
  return program;
}

void must_hold(const Program& program) {
  const auto options = cairn::fuzz::fuzz_world();
  const Played played = play(program, options);
  if (played.result.kind != StepResult::Kind::finding) return;
  std::fprintf(stderr, "expected: %s\nfound: %s\n", played.result.expected.c_str(),
               played.result.found.c_str());
  cairn::fuzz::keep_finding("program_fuzzer", played.as_it_went, options);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto program = parse_program(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!program) {
    must(program.error().line >= 1 && program.error().column >= 1);
    must(!program.error().message.empty());
    return 0;
  }
  cairn::fuzz::must_print(*program);
  if (is_cheap(*program) && !ends_streams_unannounced(*program))
    must_hold(without_expectations(*program));
  return 0;
}
