// The __device__ variables of the program. Their memory is the host's and takes none of the
// device's: it lives from its first use to the end, and through cairn_sim_reset().
//
// Thread safety: all.
#pragma once

#include <cstddef>

namespace cairn::simulator::runtime {

void add_symbol(const void* symbol, std::size_t size);
// 0: no such symbol.
std::size_t symbol_size(const void* symbol);
// Null: no such symbol, or no memory.
void* symbol_memory(const void* symbol);

}  // namespace cairn::simulator::runtime
