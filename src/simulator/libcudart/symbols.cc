#include "simulator/libcudart/symbols.h"

#include <cstdlib>
#include <map>
#include <mutex>

namespace cairn::simulator::runtime {
namespace {

struct Symbol {
  std::size_t size = 0;
  void* memory = nullptr;
};

struct Symbols {
  std::mutex mutex;
  std::map<const void*, Symbol> all;
};

// Programs come here before main() and after it.
Symbols& symbols() {
  static auto* const the_symbols = new Symbols;
  return *the_symbols;
}

}  // namespace

void add_symbol(const void* symbol, std::size_t size) {
  const std::lock_guard lock(symbols().mutex);
  symbols().all[symbol] = {size, nullptr};
}

std::size_t symbol_size(const void* symbol) {
  const std::lock_guard lock(symbols().mutex);
  const auto found = symbols().all.find(symbol);
  return found == symbols().all.end() ? 0 : found->second.size;
}

void* symbol_memory(const void* symbol) {
  const std::lock_guard lock(symbols().mutex);
  const auto found = symbols().all.find(symbol);
  if (found == symbols().all.end()) return nullptr;
  Symbol& known = found->second;
  if (known.memory == nullptr) known.memory = std::calloc(1, known.size);
  return known.memory;
}

}  // namespace cairn::simulator::runtime
