// Numbers of host threads: unlike their ids, none is ever used again.
#pragma once

#include <cstdint>

namespace cairn {

// The calling thread's number, from 1 in the order in which threads first ask.
std::uint64_t this_thread_number();

}  // namespace cairn
