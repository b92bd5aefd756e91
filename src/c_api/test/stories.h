// What the C API does, told in C over a simulated GPU. Each story gives null if all in it held, and
// else the file, the line and what did not. C++ includes this as extern "C".
#pragma once

#include <stdint.h>

#include "cairn/cairn.h"

// A GPU of 1 GiB, an allocator that has given out nothing, and two streams with no work.
typedef struct simulated_machine {
  cairn_allocator* allocator;
  cairn_stream ours;
  cairn_stream other;
  void* gpu;
  void (*launch)(void* gpu, cairn_stream stream, uint64_t ticks);  // Work that takes so long.
  void (*advance)(void* gpu, uint64_t ticks);                      // Lets time go by.
} simulated_machine;

const char* freed_memory_is_handed_out_again(const simulated_machine* machine);
const char* a_stronger_alignment_is_asked_for(const simulated_machine* machine);
const char* no_bytes_are_no_block(const simulated_machine* machine);
const char* a_checked_free_compares_size_and_stream(const simulated_machine* machine);
const char* a_recorded_stream_delays_the_next_use(const simulated_machine* machine);
const char* free_on_waits_for_that_stream(const simulated_machine* machine);
const char* a_stream_is_forgotten_before_it_ends(const simulated_machine* machine);
const char* out_of_memory_has_its_numbers(const simulated_machine* machine);
// Of a device of 1 GiB on which process 7 uses 5 MiB, and process 8 2^40 bytes.
const char* out_of_memory_tells_whose_memory_it_is(const simulated_machine* machine);
const char* a_double_free_changes_nothing(const simulated_machine* machine);
const char* memory_is_limited_to_a_fraction(const simulated_machine* machine);
const char* settings_change_while_it_works(const simulated_machine* machine);
const char* statistics_are_reset(const simulated_machine* machine);
const char* blocks_tile_what_is_reserved(const simulated_machine* machine);
const char* callbacks_are_called_until_they_are_removed(const simulated_machine* machine);
