// Cairn: a caching memory allocator for CUDA. Freed memory is kept and handed out again on the same
// stream without a call to the driver; the policy (rounding, best fit, split, merge, when segments
// go back) is that of PyTorch's CUDA caching allocator.
//
//     cairn::Allocator allocator(driver);
//     void* p = allocator.allocate({1 << 20, 0, stream});   // bytes, device, stream
//     ... launch work on `stream` that uses p ...
//     allocator.free(p);                                      // no need to wait for the work
//
// Thread safety: every member can be called from any thread at any time, but for moves and the
// destructor. Each device has a lock of its own, which is held during driver calls too (but for
// cuMemAlloc, where release_lock_on_cudamalloc is set).
//
// Stream semantics: memory belongs to the stream it was allocated for. It can be freed while work
// on that stream still uses it, since it is handed out again for the same stream alone, behind that
// work. So what allocate() gives may be in use by work that was put on that stream before: another
// stream must wait for the block's own (by an event) before it first touches the block.
//
// Work on another stream must be done before the free, or ordered before later work on the
// block's stream, or that stream must be named to record_stream() or free_on(): then the memory is
// handed out again only when the work that was on it at the free is done (an event is recorded
// there, and looked at by later allocations). Memory goes back to the driver only after its
// streams were waited for. A request served from the cache makes no driver call, but for queries
// of events while some are pending, and of the stream's id with stream_identity:id.
//
// A stream is what its handle names. Before one is destroyed tell forget_stream(), since CUDA soon
// gives the handle to another. Handle 2 (cudaStreamPerThread) is the calling thread's; where a
// program is compiled for per-thread default streams, null means that too. Do not call from host
// functions that run in a stream (cudaLaunchHostFunc): the allocator may be waiting for them.
// Captures are not supported yet. Do not call while a stream is captured: in mode global (CUDA's
// default) from any thread, in mode thread_local from the capturing one, for that stream never.
//
// Sizes and alignments are in bytes. Every member may throw std::bad_alloc when the host has no
// memory; a member whose name begins with `try_` throws nothing and gives the reason as an Error.
#pragma once

static_assert(__cplusplus >= 201703L, "Cairn's headers need C++17: -std=c++17 or later");

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "cairn/block_map.h"
#include "cairn/errors.h"
#include "cairn/export.h"
#include "cairn/options.h"
#include "cairn/stats.h"
#include "cairn/stream.h"

namespace cairn {

class AllDevices;
class Driver;

struct Request {
  std::size_t size_bytes = 0;         // 0 gives a null pointer and no block.
  int device = 0;                     // From 0, as CUDA counts.
  StreamArgument stream = {};         // Null is the default stream (see cairn/stream.h).
  std::size_t alignment_bytes = 512;  // A power of two, 2 MiB at most; 512 bytes always hold.
};

// Names a callback, to remove it.
enum class CallbackId : std::uint64_t {};

class CAIRN_EXPORT Allocator {
 public:
  // For `device` of a stream: that of the block.
  static constexpr int block_device = -1;

  // Allocates from the devices of `driver`, which must outlive the allocator. Asks it only how many
  // there are, and how much memory each has. Throws InvalidArgument where an option is out of its
  // range, Unsupported where one is not supported yet (see Options).
  explicit Allocator(Driver& driver, const Options& options = {});
  // With settings from text (see parse_settings), or from the environment
  // (settings_from_environment); warnings go to stderr. Throws as above, and InvalidArgument for
  // bad text.
  static Allocator from_settings(Driver& driver, std::string_view text);
  static Allocator from_environment(Driver& driver);

  // Waits for the streams and gives all memory back to the driver, that of live blocks too, which
  // no work may use any more. A device that is lost keeps its memory.
  ~Allocator();
  // What was moved from can only be assigned to or destroyed. Assigning ends the allocator that was
  // there, as its destructor does.
  Allocator(Allocator&&) noexcept;
  Allocator& operator=(Allocator&&) noexcept;

  // Hands out device memory of at least `size_bytes`, aligned to 512 bytes or more. Asks the driver
  // (cuMemAlloc) only if nothing cached fits; if that fails waits for pending events, gives cached
  // memory back and asks again. Throws OutOfMemory (also for 2^60 bytes and more, and where
  // throw_on_cudamalloc_oom rejects it), InvalidArgument for a device, an alignment or a stream
  // that cannot be, CudaError when the driver fails otherwise, Unsupported when the driver's memory
  // is not aligned as asked. Whatever it throws, live blocks are as before.
  void* allocate(const Request& request);
  // The same, but null on failure; `why`, if given, then says so, and else is left as it was.
  void* try_allocate(const Request& request, Error* why = nullptr) noexcept;

  // Takes back what allocate() gave, on whatever device. Null does nothing. Throws InvalidArgument
  // for a pointer that is not the start of a live block (foreign, inside a block, freed already),
  // CudaError when the driver records no event on another stream that uses the block; nothing
  // changes then.
  void free(void* pointer);
  // The same, but false on failure, and then `why` says so.
  bool try_free(void* pointer, Error* why = nullptr) noexcept;

  // The same, checked: `size_bytes` must be what was requested and `stream` the block's stream,
  // else it throws InvalidArgument.
  void free(void* pointer, std::size_t size_bytes, StreamArgument stream);
  bool try_free(void* pointer, std::size_t size_bytes, StreamArgument stream,
                Error* why = nullptr) noexcept;

  // Says that work on `stream` uses the block (PyTorch: record_stream), which the block's own
  // stream need not say. `device` is the stream's; by default the block's. Null does nothing.
  // Throws InvalidArgument for a pointer that is not the start of a live block, and for a stream or
  // a device that cannot be, CudaError when the driver does not say its id (stream_identity:id);
  // nothing changes then.
  void record_stream(void* pointer, StreamArgument stream, int device = block_device);
  bool try_record_stream(void* pointer, StreamArgument stream, int device = block_device,
                         Error* why = nullptr) noexcept;

  // Takes the block back, to be handed out again only when the work that is on `stream` now is
  // done: record_stream() and free() in one. Throws as both; then nothing changes.
  void free_on(void* pointer, StreamArgument stream, int device = block_device);
  bool try_free_on(void* pointer, StreamArgument stream, int device = block_device,
                   Error* why = nullptr) noexcept;

  // Announces that this stream will be destroyed: no work is put on it any more. Its work so far is
  // still waited for where its memory, or what it used, is to be handed out again; later streams of
  // the same handle are others. Throws InvalidArgument for a default stream, CudaError when the
  // driver fails; then the stream is still known, and it can be called again.
  void forget_stream(int device, StreamArgument stream);
  bool try_forget_stream(int device, StreamArgument stream, Error* why = nullptr) noexcept;

  // Looks at the pending events of a device, as every allocation does: blocks whose events are done
  // become free. Throws CudaError when the driver refuses to say of one; that one stays pending.
  void process_events(int device);
  bool try_process_events(int device, Error* why = nullptr) noexcept;

  // Limits what is held of a device to this part of its memory, from 0 to 1 (no limit); what is
  // held already stays (PyTorch: set_per_process_memory_fraction). Throws InvalidArgument for other
  // numbers.
  void set_memory_fraction(int device, double fraction);
  double memory_fraction(int device) const;

  // Changes settings while the allocator works: text as for from_settings(), over those of now; not
  // all can change (see src/allocator/README.md). Throws InvalidArgument for bad text, Unsupported
  // for a setting that cannot change; then none has.
  void reconfigure(std::string_view text);

  // What is called, in the order of registration, when a request finds nothing cached and before
  // the driver is asked: it may free memory of its own, and says whether it did. A thread that
  // allocates in it does not call it again. When a request has failed (out of memory, or rejected):
  // an observer is told why. Both run on the thread that allocates, without any lock, and may call
  // the allocator; what they throw is dropped, after it went into the message of the failure.
  CallbackId add_free_memory_callback(std::function<bool(int device)> callback);
  CallbackId add_out_of_memory_observer(std::function<void(const Error&)> observer);
  // One that is running on another thread may still be running when this returns.
  void remove_callback(CallbackId id) noexcept;

  // Gives every segment that holds no live block back to the driver, on all devices. Throws
  // CudaError when the driver refuses one: that one stays cached, and so do those after it.
  void empty_cache();
  bool try_empty_cache(Error* why = nullptr) noexcept;

  int device_count() const noexcept;

  // Of one device, as it is at one moment. These throw InvalidArgument for a device that is not
  // there. A reset lets peaks begin anew from what is current, and accumulated counts from 0.
  DeviceStats stats(int device) const;
  void reset_peak_stats(int device);
  void reset_accumulated_stats(int device);
  BlockMap block_map(int device) const;

 private:
  std::unique_ptr<AllDevices> devices_;
};

// The allocator that a whole process shares, over its CUDA driver (see cairn/cuda_driver.h), with
// the settings of the environment (settings_from_environment). It is made at the first call that
// can, and never ends. Until then each call throws, with the reason: Unsupported where there is no
// CUDA driver that can be used, CudaError where there is one that fails, InvalidArgument for bad
// settings.
CAIRN_EXPORT Allocator& default_allocator();

}  // namespace cairn
