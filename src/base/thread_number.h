// Numbers of host threads: unlike their ids, none is ever used again.
#pragma once

#include <cstdint>

namespace cairn {

// The calling thread's number, from 1 in the order in which threads first ask.
std::uint64_t this_thread_number();

// The calling thread goes on under another number, and so as another thread to all that tells
// threads apart by their numbers; 0: under a new one, once it asks. Gives the number that it had,
// 0 where it never asked.
std::uint64_t exchange_thread_number(std::uint64_t number);

}  // namespace cairn
