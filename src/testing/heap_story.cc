#include "testing/heap_story.h"

namespace cairn::testing {
namespace {

constexpr std::uint64_t very_long = std::uint64_t{1} << 32;  // Ticks; nothing else lets time pass.

}  // namespace

std::string name_of(const HeapBlock& block) {
  if (block.number < 0) return "i" + std::to_string(-1 - block.number);
  return "a" + std::to_string(block.number);
}

std::string name_of(const HeapStream& stream) { return "s" + std::to_string(stream.number); }

void HeapStory::say(Operation operation) {
  Statement statement;
  statement.operation = std::move(operation);
  program_.statements.push_back(std::move(statement));
}

void HeapStory::work(const HeapStream& user, const HeapBlock& block) {
  say(Launch{name_of(user), {{name_of(block), true}}, very_long});
}

}  // namespace cairn::testing
