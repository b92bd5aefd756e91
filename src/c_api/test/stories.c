#include "stories.h"

#include <string.h>

#define CAIRN_TEXT_(x) #x
#define CAIRN_TEXT(x) CAIRN_TEXT_(x)
#define HOLDS(condition)                                                        \
  do {                                                                          \
    if (!(condition)) return __FILE__ ":" CAIRN_TEXT(__LINE__) ": " #condition; \
  } while (0)
#define WORKS(call) HOLDS((call) == CAIRN_OK)

static void* take(const simulated_machine* machine, size_t size_bytes) {
  const cairn_request request = {size_bytes, 0, machine->ours, 0};
  void* pointer = NULL;
  return cairn_allocate(machine->allocator, &request, &pointer) == CAIRN_OK ? pointer : NULL;
}

static cairn_device_stats stats_of(const simulated_machine* machine) {
  cairn_device_stats stats;
  memset(&stats, 0xff, sizeof stats);
  cairn_get_stats(machine->allocator, 0, &stats);
  return stats;
}

const char* freed_memory_is_handed_out_again(const simulated_machine* machine) {
  void* const block = take(machine, 1 << 20);
  HOLDS(block != NULL);
  WORKS(cairn_free(machine->allocator, block));
  HOLDS(take(machine, 1 << 20) == block);
  const cairn_device_stats stats = stats_of(machine);
  HOLDS(stats.num_device_alloc == 1);
  HOLDS(stats.allocation.all.allocated == 2 && stats.allocation.all.freed == 1);
  HOLDS(stats.allocated_bytes.small_pool.current == 1 << 20);
  WORKS(cairn_free(machine->allocator, block));
  WORKS(cairn_empty_cache(machine->allocator));
  HOLDS(stats_of(machine).reserved_bytes.all.current == 0);
  HOLDS(stats_of(machine).num_device_free == 1);
  return NULL;
}

const char* a_stronger_alignment_is_asked_for(const simulated_machine* machine) {
  void* pointer = NULL;
  HOLDS(take(machine, 512) != NULL);
  cairn_request request = {512, 0, machine->ours, 65536};
  WORKS(cairn_allocate(machine->allocator, &request, &pointer));
  HOLDS((uintptr_t)pointer % 65536 == 0);
  request.alignment_bytes = 3;
  HOLDS(cairn_allocate(machine->allocator, &request, &pointer) == CAIRN_INVALID_ARGUMENT);
  HOLDS(pointer == NULL);
  HOLDS(strstr(cairn_last_error_message(), "alignment of 3 bytes") != NULL);
  return NULL;
}

const char* no_bytes_are_no_block(const simulated_machine* machine) {
  const cairn_request request = {0, 0, NULL, 0};
  int something = 0;
  void* pointer = &something;
  WORKS(cairn_allocate(machine->allocator, &request, &pointer));
  HOLDS(pointer == NULL);
  WORKS(cairn_free(machine->allocator, NULL));
  HOLDS(stats_of(machine).allocation.all.allocated == 0);
  return NULL;
}

const char* a_checked_free_compares_size_and_stream(const simulated_machine* machine) {
  cairn_allocator* const allocator = machine->allocator;
  void* const block = take(machine, 1000);
  HOLDS(cairn_free_checked(allocator, block, 1001, machine->ours) == CAIRN_INVALID_ARGUMENT);
  HOLDS(strstr(cairn_last_error_message(), "1000 bytes were requested") != NULL);
  HOLDS(cairn_free_checked(allocator, block, 1000, machine->other) == CAIRN_INVALID_ARGUMENT);
  HOLDS(stats_of(machine).allocation.all.current == 1);
  WORKS(cairn_free_checked(allocator, block, 1000, machine->ours));
  HOLDS(stats_of(machine).allocation.all.current == 0);
  return NULL;
}

const char* a_recorded_stream_delays_the_next_use(const simulated_machine* machine) {
  cairn_allocator* const allocator = machine->allocator;
  void* const block = take(machine, 1 << 20);
  machine->launch(machine->gpu, machine->other, 10);
  WORKS(cairn_record_stream(allocator, block, machine->other, CAIRN_BLOCK_DEVICE));
  WORKS(cairn_free(allocator, block));
  HOLDS(take(machine, 1 << 20) != block);
  machine->advance(machine->gpu, 10);
  HOLDS(stats_of(machine).active.all.current == 2);
  WORKS(cairn_process_events(allocator, 0));
  HOLDS(stats_of(machine).active.all.current == 1);
  HOLDS(take(machine, 1 << 20) == block);
  return NULL;
}

const char* free_on_waits_for_that_stream(const simulated_machine* machine) {
  void* const block = take(machine, 1 << 20);
  machine->launch(machine->gpu, machine->other, 10);
  WORKS(cairn_free_on(machine->allocator, block, machine->other, 0));
  HOLDS(take(machine, 1 << 20) != block);
  machine->advance(machine->gpu, 10);
  HOLDS(take(machine, 1 << 20) == block);
  return NULL;
}

const char* a_stream_is_forgotten_before_it_ends(const simulated_machine* machine) {
  cairn_allocator* const allocator = machine->allocator;
  void* const block = take(machine, 1 << 20);
  WORKS(cairn_forget_stream(allocator, 0, machine->ours));
  WORKS(cairn_free(allocator, block));
  HOLDS(take(machine, 1 << 20) != block);  // For a new stream of that handle.
  HOLDS(cairn_forget_stream(allocator, 0, NULL) == CAIRN_INVALID_ARGUMENT);
  HOLDS(cairn_forget_stream(allocator, 0, CAIRN_STREAM_PER_THREAD) == CAIRN_INVALID_ARGUMENT);
  return NULL;
}

const char* out_of_memory_has_its_numbers(const simulated_machine* machine) {
  HOLDS(take(machine, 100 << 20) != NULL);
  const cairn_request request = {(size_t)3 << 30, 0, NULL, 0};
  void* pointer = NULL;
  HOLDS(cairn_allocate(machine->allocator, &request, &pointer) == CAIRN_OUT_OF_MEMORY);
  const cairn_failure* const failure = cairn_last_failure();
  HOLDS(failure->code == CAIRN_OUT_OF_MEMORY && failure->cuda_code == 2);
  HOLDS(failure->message == cairn_last_error_message());
  HOLDS(strstr(failure->message, "out of memory") != NULL);
  HOLDS(failure->memory != NULL && failure->memory->device == 0);
  HOLDS(failure->memory->requested_bytes == request.size_bytes);
  HOLDS(failure->memory->total_bytes == 1 << 30);
  HOLDS(failure->memory->free_bytes == (1 << 30) - (100 << 20));
  HOLDS(failure->memory->limit_bytes == CAIRN_NO_NUMBER);
  HOLDS(failure->memory->allocated_bytes == 100 << 20);
  HOLDS(failure->memory->processes == NULL && failure->memory->process_count == 0);
  HOLDS(stats_of(machine).num_ooms == 1);
  return NULL;
}

const char* out_of_memory_tells_whose_memory_it_is(const simulated_machine* machine) {
  HOLDS(take(machine, (size_t)3 << 30) == NULL);
  const cairn_memory_report* const report = cairn_last_failure()->memory;
  HOLDS(report != NULL && report->process_count == 2);
  HOLDS(report->processes[0].pid == 7 && report->processes[0].used_bytes == 5 << 20);
  HOLDS(report->processes[1].pid == 8 && report->processes[1].used_bytes == (uint64_t)1 << 40);
  HOLDS(cairn_free(machine->allocator, (void*)machine) == CAIRN_INVALID_ARGUMENT);
  HOLDS(take(machine, (size_t)3 << 30) == NULL);
  HOLDS(cairn_last_failure()->memory->process_count == 2);
  return NULL;
}

const char* a_double_free_changes_nothing(const simulated_machine* machine) {
  void* const block = take(machine, 1000);
  WORKS(cairn_free(machine->allocator, block));
  HOLDS(cairn_free(machine->allocator, block) == CAIRN_INVALID_ARGUMENT);
  HOLDS(strstr(cairn_last_error_message(), "was it freed before?") != NULL);
  HOLDS(cairn_last_failure()->code == CAIRN_INVALID_ARGUMENT);
  HOLDS(cairn_last_failure()->memory == NULL);
  HOLDS(stats_of(machine).allocation.all.freed == 1);
  WORKS(cairn_free(machine->allocator, NULL));
  HOLDS(cairn_last_failure()->code == CAIRN_INVALID_ARGUMENT);  // A success leaves it.
  return NULL;
}

const char* memory_is_limited_to_a_fraction(const simulated_machine* machine) {
  double fraction = 0;
  WORKS(cairn_set_memory_fraction(machine->allocator, 0, 0.25));
  WORKS(cairn_get_memory_fraction(machine->allocator, 0, &fraction));
  HOLDS(fraction == 0.25);
  HOLDS(take(machine, 300 << 20) == NULL);
  HOLDS(cairn_last_failure()->memory->limit_bytes == 256 << 20);
  HOLDS(take(machine, 200 << 20) != NULL);
  HOLDS(cairn_set_memory_fraction(machine->allocator, 0, 1.5) == CAIRN_INVALID_ARGUMENT);
  HOLDS(cairn_get_memory_fraction(machine->allocator, 1, &fraction) == CAIRN_INVALID_ARGUMENT);
  return NULL;
}

const char* settings_change_while_it_works(const simulated_machine* machine) {
  WORKS(cairn_reconfigure(machine->allocator, "max_split_size_mb:64"));
  HOLDS(stats_of(machine).max_split_size_bytes == 64 << 20);
  HOLDS(cairn_reconfigure(machine->allocator, "max_split_size_mb:x") == CAIRN_INVALID_ARGUMENT);
  HOLDS(strstr(cairn_last_error_message(), "max_split_size_mb") != NULL);
  HOLDS(cairn_reconfigure(machine->allocator, "stream_identity:id") == CAIRN_UNSUPPORTED);
  HOLDS(stats_of(machine).max_split_size_bytes == 64 << 20);
  return NULL;
}

const char* statistics_are_reset(const simulated_machine* machine) {
  WORKS(cairn_free(machine->allocator, take(machine, 3 << 20)));
  HOLDS(stats_of(machine).allocated_bytes.large_pool.peak == 3 << 20);
  WORKS(cairn_reset_peak_stats(machine->allocator, 0));
  HOLDS(stats_of(machine).allocated_bytes.large_pool.peak == 0);
  HOLDS(stats_of(machine).allocated_bytes.large_pool.allocated == 3 << 20);
  WORKS(cairn_reset_accumulated_stats(machine->allocator, 0));
  HOLDS(stats_of(machine).allocated_bytes.large_pool.allocated == 0);
  HOLDS(stats_of(machine).reserved_bytes.all.current == 20 << 20);
  HOLDS(cairn_reset_peak_stats(machine->allocator, -1) == CAIRN_INVALID_ARGUMENT);
  return NULL;
}

struct sums {
  uint64_t allocated;
  uint64_t all;
  uint64_t next_address;
  bool in_order;
};

static void add_up(const cairn_block_info* block, void* context) {
  struct sums* const sums = context;
  if (block->state == CAIRN_ACTIVE_ALLOCATED) sums->allocated += block->size_bytes;
  sums->all += block->size_bytes;
  if (block->address == block->segment_address) sums->next_address = block->address;
  sums->in_order = sums->in_order && block->address == sums->next_address && block->is_large;
  sums->next_address += block->size_bytes;
}

const char* blocks_tile_what_is_reserved(const simulated_machine* machine) {
  HOLDS(take(machine, 3 << 20) != NULL && take(machine, 30 << 20) != NULL);
  struct sums sums = {0, 0, 0, true};
  WORKS(cairn_visit_blocks(machine->allocator, 0, add_up, &sums));
  HOLDS(sums.allocated == 33 << 20 && sums.all == 50 << 20 && sums.in_order);
  HOLDS(cairn_visit_blocks(machine->allocator, 7, add_up, &sums) == CAIRN_INVALID_ARGUMENT);
  return NULL;
}

struct spare {
  cairn_allocator* allocator;
  void* memory;
  int asked;
  int told;
};

static bool give_up_spare(int device, void* context) {
  struct spare* const spare = context;
  ++spare->asked;
  if (device != 0 || spare->memory == NULL) return false;
  const bool is_freed = cairn_free(spare->allocator, spare->memory) == CAIRN_OK;
  spare->memory = NULL;
  return is_freed;
}

static void hear(const cairn_failure* failure, void* context) {
  struct spare* const spare = context;
  if (failure->code == CAIRN_OUT_OF_MEMORY && failure->memory != NULL) ++spare->told;
}

const char* callbacks_are_called_until_they_are_removed(const simulated_machine* machine) {
  struct spare spare = {machine->allocator, take(machine, 600 << 20), 0, 0};
  HOLDS(spare.memory != NULL);
  void* const memory = spare.memory;
  cairn_callback_id asks = 0;
  cairn_callback_id tells = 0;
  WORKS(cairn_add_free_memory_callback(machine->allocator, give_up_spare, &spare, &asks));
  WORKS(cairn_add_out_of_memory_observer(machine->allocator, hear, &spare, &tells));
  HOLDS(take(machine, 500 << 20) == memory && spare.asked == 1 && spare.told == 0);
  HOLDS(take(machine, 600 << 20) == NULL && spare.asked == 2 && spare.told == 1);
  WORKS(cairn_remove_callback(machine->allocator, asks));
  WORKS(cairn_remove_callback(machine->allocator, tells));
  HOLDS(take(machine, 600 << 20) == NULL && spare.asked == 2 && spare.told == 1);
  return NULL;
}
