// Cairn for C (C99 or later), and for whatever calls C: the allocator of cairn/allocator.h, which
// says in full what each call means for memory, streams and errors.
//
//     cairn_allocator* allocator = NULL;
//     void* p = NULL;
//     cairn_request request = {.size_bytes = 1 << 20, .device = 0, .stream = stream};
//     if (cairn_allocator_default(&allocator) != CAIRN_OK ||
//         cairn_allocate(allocator, &request, &p) != CAIRN_OK) {
//       fprintf(stderr, "%s\n", cairn_last_error_message());
//     }
//     ... launch work on `stream` that uses p ...
//     cairn_free(allocator, p);                             // no need to wait for the work
//
// Errors: a function that gives a cairn_error gives CAIRN_OK, or else has changed nothing but what
// it says, and cairn_last_error_message() tells what was wrong and what to do. A null pointer where
// one is needed is CAIRN_INVALID_ARGUMENT. No C++ exception leaves a function. Any function may
// give CAIRN_OUT_OF_HOST_MEMORY; each names the others that it may give.
//
// Thread safety: any function can be called from any thread at any time, but that an allocator must
// not be in use when it is destroyed. The last error is the calling thread's own.
//
// Streams: memory belongs to the stream that it was allocated for. It may be freed while work there
// still uses it, and it may be handed out while earlier work there still runs; another stream must
// be made to wait for the block's own (by an event) before it first touches the block, and be named
// (cairn_record_stream, cairn_free_on) before the free, or its work be done by then.
//
// Sizes and alignments are in bytes. Device numbers count from 0, as CUDA's do.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn/export.h"
#include "cairn/version.h"

// NOLINTBEGIN(modernize-*,readability-identifier-naming): C, with C's names.
#ifdef __cplusplus
extern "C" {
#endif

// ---- what is passed ----

// An allocator. Who makes one destroys it.
typedef struct cairn_allocator cairn_allocator;

// The very type that CUDA calls cudaStream_t and CUstream. Null is the legacy default stream,
// whatever the file is compiled for; CAIRN_STREAM_PER_THREAD is the calling thread's.
typedef struct CUstream_st* cairn_stream;
#define CAIRN_STREAM_PER_THREAD ((cairn_stream)(uintptr_t)2)

// For `device` of a stream: that of the block.
#define CAIRN_BLOCK_DEVICE (-1)

typedef enum cairn_error {
  CAIRN_OK = 0,
  CAIRN_OUT_OF_MEMORY = 1,     // The device has no memory left, after all that is cached was tried.
  CAIRN_REJECTED = 2,          // Refused before CUDA was asked, by throw_on_cudamalloc_oom.
  CAIRN_INVALID_ARGUMENT = 3,  // The caller's mistake; nothing has changed.
  CAIRN_CUDA_ERROR = 4,        // The CUDA driver failed with anything but out of memory.
  CAIRN_UNSUPPORTED = 5,       // This build, this driver or this device cannot do it.
  CAIRN_OUT_OF_HOST_MEMORY = 6
} cairn_error;

typedef struct cairn_request {
  size_t size_bytes;  // 0 gives a null pointer and no block.
  int device;
  cairn_stream stream;
  size_t alignment_bytes;  // A power of two, 2 MiB at most; 512 bytes always hold. 0 is 512.
} cairn_request;

// ---- errors ----

// What stands for a number of bytes that is not known, or not limited.
#define CAIRN_NO_NUMBER UINT64_MAX

// What a process has of a device's memory, as NVML says.
typedef struct cairn_process_memory_use {
  uint32_t pid;
  uint64_t used_bytes;
} cairn_process_memory_use;

// The quantities of an out-of-memory, or of a rejection, as they were then. allocated_bytes +
// private_bytes + unallocated_bytes is what the allocator holds of the device. Cairn alone makes
// reports, and owns what they point to; later versions may add members at the end.
typedef struct cairn_memory_report {
  int device;
  uint64_t requested_bytes;    // What the caller asked for.
  uint64_t tried_bytes;        // The segment that would have been needed for it.
  uint64_t total_bytes;        // Of the device, as the driver says; CAIRN_NO_NUMBER: it did not.
  uint64_t free_bytes;         // The same, of all processes together.
  uint64_t limit_bytes;        // What this allocator may hold; CAIRN_NO_NUMBER: no limit.
  uint64_t allocated_bytes;    // Of blocks that are handed out.
  uint64_t private_bytes;      // Free in private pools.
  uint64_t unallocated_bytes;  // Reserved, but neither of these.
  uint64_t pending_bytes;      // Of unallocated_bytes: freed, waits for events.
  // Of all processes that have some of the device's memory; live as long as the report. Null and 0
  // where they are not known, as of a rejection.
  const cairn_process_memory_use* processes;
  size_t process_count;
} cairn_memory_report;

typedef struct cairn_failure {
  cairn_error code;
  int cuda_code;  // The CUresult, where code is CAIRN_CUDA_ERROR or CAIRN_OUT_OF_MEMORY; or 0.
  const char* message;  // Names the pointer, size, device or stream, and what to do. Never null.
  // Where code is CAIRN_REJECTED, or CAIRN_OUT_OF_MEMORY of less than 2^60 bytes; else null.
  const cairn_memory_report* memory;
} cairn_failure;

// The last failure of a function below on the calling thread, and its message alone. Both stay as
// they are until the next failure on this thread; before the first the code is CAIRN_OK and the
// message empty. Never null. While a thread's last destructors run, the code alone may be left.
CAIRN_EXPORT const cairn_failure* cairn_last_failure(void);
CAIRN_EXPORT const char* cairn_last_error_message(void);

// The code as one word: "out_of_memory", "invalid_argument", ...; CAIRN_OK is "none".
CAIRN_EXPORT const char* cairn_error_name(cairn_error error);

// Of the library that is running: "0.1.0" (see cairn/version.h for that of the headers).
CAIRN_EXPORT const char* cairn_version(void);

// ---- an allocator's life ----

// The allocator that a whole process shares, over its CUDA driver, with the settings of the
// environment (CAIRN_ALLOC_CONF, or else PYTORCH_CUDA_ALLOC_CONF, or else PYTORCH_ALLOC_CONF). It
// is made by the first call that can, and never ends. CAIRN_UNSUPPORTED: there is no CUDA driver
// that can be used, or a setting is not supported. CAIRN_CUDA_ERROR: there is one that fails.
// CAIRN_INVALID_ARGUMENT: bad settings.
CAIRN_EXPORT cairn_error cairn_allocator_default(cairn_allocator** allocator);

// A new allocator over the CUDA driver, with settings such as "max_split_size_mb:128"; null and ""
// are the defaults. Warnings go to stderr. Fails as cairn_allocator_default(), and then
// `*allocator` is null.
CAIRN_EXPORT cairn_error cairn_allocator_create(const char* settings, cairn_allocator** allocator);
// The same with the settings of the environment.
CAIRN_EXPORT cairn_error cairn_allocator_create_from_environment(cairn_allocator** allocator);

// Waits for the streams and gives all memory back to the driver, that of live blocks too, which no
// work may use any more. Null does nothing. CAIRN_INVALID_ARGUMENT: it is the default allocator.
CAIRN_EXPORT cairn_error cairn_allocator_destroy(cairn_allocator* allocator);

// ---- memory ----

// Hands out device memory of at least request->size_bytes, aligned to 512 bytes or more; on failure
// `*pointer` is null, and all live blocks are as before. CAIRN_OUT_OF_MEMORY and CAIRN_REJECTED:
// after all that is cached was tried. CAIRN_INVALID_ARGUMENT: a device, an alignment or a stream
// that cannot be. CAIRN_CUDA_ERROR. CAIRN_UNSUPPORTED: memory is not aligned as asked.
CAIRN_EXPORT cairn_error cairn_allocate(cairn_allocator* allocator, const cairn_request* request,
                                        void** pointer);

// Takes back what cairn_allocate() gave, on whatever device. Null does nothing.
// CAIRN_INVALID_ARGUMENT: it is not the start of a live block (foreign, inside a block, freed
// already). CAIRN_CUDA_ERROR: no event could be recorded on another stream that uses the block.
CAIRN_EXPORT cairn_error cairn_free(cairn_allocator* allocator, void* pointer);

// The same, checked: `size_bytes` must be what was requested and `stream` the block's stream, else
// CAIRN_INVALID_ARGUMENT.
CAIRN_EXPORT cairn_error cairn_free_checked(cairn_allocator* allocator, void* pointer,
                                            size_t size_bytes, cairn_stream stream);

// Takes the block back, to be handed out again only when the work that is on `stream` now is done:
// cairn_record_stream() and cairn_free() in one. Fails as both, and then the block is as before.
CAIRN_EXPORT cairn_error cairn_free_on(cairn_allocator* allocator, void* pointer,
                                       cairn_stream stream, int device);

// Says that work on `stream`, of `device` or CAIRN_BLOCK_DEVICE, uses the block, which the block's
// own stream need not say. Null does nothing. CAIRN_INVALID_ARGUMENT: not the start of a live
// block, or a stream or device that cannot be. CAIRN_CUDA_ERROR: with stream_identity:id alone.
CAIRN_EXPORT cairn_error cairn_record_stream(cairn_allocator* allocator, void* pointer,
                                             cairn_stream stream, int device);

// To be called before a stream is destroyed: no work is put on it any more, and later streams of
// the same handle are others. CAIRN_INVALID_ARGUMENT: a default stream, or no such device.
// CAIRN_CUDA_ERROR: the stream is still known, and this can be called again.
CAIRN_EXPORT cairn_error cairn_forget_stream(cairn_allocator* allocator, int device,
                                             cairn_stream stream);

// Looks at the pending events of a device, as every allocation does: blocks whose events are done
// become free. CAIRN_INVALID_ARGUMENT: no such device. CAIRN_CUDA_ERROR.
CAIRN_EXPORT cairn_error cairn_process_events(cairn_allocator* allocator, int device);

// Gives every segment that holds no live block back to the driver, on all devices.
// CAIRN_CUDA_ERROR: the driver refused one; it stays cached, and so do those after it.
CAIRN_EXPORT cairn_error cairn_empty_cache(cairn_allocator* allocator);

// ---- settings ----

// Limits what is held of a device to this part of its memory, from 0 to 1 (no limit); what is held
// already stays. CAIRN_INVALID_ARGUMENT: another number, or no such device.
CAIRN_EXPORT cairn_error cairn_set_memory_fraction(cairn_allocator* allocator, int device,
                                                   double fraction);
CAIRN_EXPORT cairn_error cairn_get_memory_fraction(const cairn_allocator* allocator, int device,
                                                   double* fraction);

// Changes settings while the allocator works: text as for cairn_allocator_create(), over those of
// now. CAIRN_INVALID_ARGUMENT: bad text. CAIRN_UNSUPPORTED: a setting that cannot change.
CAIRN_EXPORT cairn_error cairn_reconfigure(cairn_allocator* allocator, const char* settings);

// ---- what there is ----

// A quantity over time: a count, or bytes where the name of the member says so.
typedef struct cairn_stat {
  int64_t current;
  int64_t peak;       // The highest `current` since the last reset of the peak.
  int64_t allocated;  // All that was ever added, since the last reset.
  int64_t freed;      // All that was ever taken away, since the last reset.
} cairn_stat;

typedef struct cairn_stat_array {
  cairn_stat all;
  cairn_stat small_pool;  // Of requests of 1 MiB and less.
  cairn_stat large_pool;
} cairn_stat_array;

// PyTorch's names and meanings (torch.cuda.memory_stats).
typedef struct cairn_device_stats {
  cairn_stat_array allocation;            // Blocks handed out to the caller.
  cairn_stat_array segment;               // Segments held from the driver.
  cairn_stat_array active;                // Blocks handed out, or freed and waiting for events.
  cairn_stat_array inactive_split;        // Free blocks that are part of a larger segment.
  cairn_stat_array allocated_bytes;       // Block sizes of `allocation`.
  cairn_stat_array reserved_bytes;        // Sizes of `segment`.
  cairn_stat_array active_bytes;          // Block sizes of `active`.
  cairn_stat_array inactive_split_bytes;  // Block sizes of `inactive_split`.
  cairn_stat_array requested_bytes;       // What the callers of `active` blocks asked for.
  cairn_stat oversize_allocations;        // Blocks handed out of max_split_size and above.
  cairn_stat oversize_segments;           // Segments of max_split_size and above.
  int64_t num_alloc_retries;              // Driver asked again after the whole cache was released.
  int64_t num_ooms;                       // Requests that failed for want of memory.
  int64_t num_oom_rejections;             // Requests refused by throw_on_cudamalloc_oom.
  int64_t num_sync_all_streams;           // Waits for all events of the device.
  int64_t num_device_alloc;               // Successful driver allocations.
  int64_t num_device_free;                // Successful driver frees.
  uint64_t max_split_size_bytes;          // As set now; 2^64-1 is unlimited.
} cairn_device_stats;

CAIRN_EXPORT cairn_error cairn_get_device_count(const cairn_allocator* allocator, int* count);

// Of one device, as it is at one moment. A reset lets peaks begin anew from what is current, and
// accumulated counts from 0. CAIRN_INVALID_ARGUMENT: no such device.
CAIRN_EXPORT cairn_error cairn_get_stats(const cairn_allocator* allocator, int device,
                                         cairn_device_stats* stats);
CAIRN_EXPORT cairn_error cairn_reset_peak_stats(cairn_allocator* allocator, int device);
CAIRN_EXPORT cairn_error cairn_reset_accumulated_stats(cairn_allocator* allocator, int device);

typedef enum cairn_block_state {
  CAIRN_ACTIVE_ALLOCATED = 0,     // Handed out to the caller.
  CAIRN_ACTIVE_PENDING_FREE = 1,  // Freed by the caller, waits for events of other streams.
  CAIRN_INACTIVE = 2              // Free.
} cairn_block_state;

typedef struct cairn_block_info {
  uint64_t segment_address;
  uint64_t segment_size_bytes;
  uint64_t stream;  // Of the segment: its handle (or id, with stream_identity:id) as a number.
  bool is_large;    // The segment is of the pool for requests above 1 MiB.
  uint64_t address;
  uint64_t size_bytes;
  uint64_t requested_size_bytes;  // 0 of a free block.
  cairn_block_state state;
} cairn_block_info;

// Calls `visitor` with each block of a device, in order of address, as all were at one moment; the
// blocks of a segment tile it. It runs without a lock, and may call the allocator.
// CAIRN_INVALID_ARGUMENT: no such device.
typedef void (*cairn_block_visitor)(const cairn_block_info* block, void* context);
CAIRN_EXPORT cairn_error cairn_visit_blocks(const cairn_allocator* allocator, int device,
                                            cairn_block_visitor visitor, void* context);

// ---- callbacks: called on the thread that allocates, without a lock; may call the allocator ----

typedef uint64_t cairn_callback_id;

// Is called when a request finds nothing cached and before the driver is asked: it may free memory
// of its own, and says whether it did. `*id`, if `id` is not null, names it for
// cairn_remove_callback().
typedef bool (*cairn_free_memory_callback)(int device, void* context);
CAIRN_EXPORT cairn_error cairn_add_free_memory_callback(cairn_allocator* allocator,
                                                        cairn_free_memory_callback callback,
                                                        void* context, cairn_callback_id* id);

// Is told why a request failed (out of memory, or rejected); `failure` lives as long as the call.
typedef void (*cairn_out_of_memory_observer)(const cairn_failure* failure, void* context);
CAIRN_EXPORT cairn_error cairn_add_out_of_memory_observer(cairn_allocator* allocator,
                                                          cairn_out_of_memory_observer observer,
                                                          void* context, cairn_callback_id* id);

// One that is running on another thread may still be running when this returns.
CAIRN_EXPORT cairn_error cairn_remove_callback(cairn_allocator* allocator, cairn_callback_id id);

#ifdef __cplusplus
}  // extern "C"
#endif
// NOLINTEND(modernize-*,readability-identifier-naming)
