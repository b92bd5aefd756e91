// The reference model: what a caching allocator of the native policy must do, written a second
// time, from the documented behaviour alone, as plainly as it can be (vectors and linear scans).
// Fed with the answers of the driver it foretells every address, every driver call, in order, and
// every failure. It shares no code with src/heap or src/allocator, so that a fault there cannot
// hide here.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/block_map.h"
#include "cairn/errors.h"
#include "cairn/options.h"
#include "cairn/stats.h"

namespace cairn::model {

// Stands in for the driver, and for the thread that calls. The model makes a call here whenever the
// allocator must make one; who implements it answers with what the real driver answered, and takes
// note if that call was not made. What is called without the lock (callbacks, and malloc with
// release_lock_on_cudamalloc) may let other operations of the model run before it answers. Codes
// are CUDA's, 0 is success; where a call fails the other member means nothing. Streams are the
// handles that the driver is told.
class Environment {
 public:
  virtual ~Environment() = default;

  struct Allocated {
    int cuda_code = 0;
    Address address;
  };
  struct Memory {
    int cuda_code = 0;
    Bytes free;
    Bytes total;
  };
  struct Number {  // A handle, or an id.
    int cuda_code = 0;
    std::uint64_t value = 0;
  };
  struct Queried {
    int cuda_code = 0;
    bool is_done = false;
  };

  // The number of the thread that makes the call (base/thread_number.h).
  virtual std::uint64_t thread_number() = 0;

  // Free-memory callbacks are called now, if there are any; none of them frees anything.
  virtual void call_back() {}
  virtual Allocated malloc(DeviceIndex device, Bytes size) = 0;
  virtual int free(DeviceIndex device, Address address) = 0;
  virtual Memory mem_info(DeviceIndex device) = 0;
  virtual Number event_create(DeviceIndex device, std::uint64_t context) = 0;
  virtual int event_record(DeviceIndex device, std::uint64_t stream, std::uint64_t event) = 0;
  virtual Queried event_query(DeviceIndex device, std::uint64_t event) = 0;
  virtual int event_sync(DeviceIndex device, std::uint64_t event) = 0;
  virtual int ctx_record(DeviceIndex device, std::uint64_t event) = 0;
  virtual int stream_sync(DeviceIndex device, std::uint64_t stream) = 0;
  virtual int device_sync(DeviceIndex device) = 0;
  virtual Number stream_ctx(DeviceIndex device, std::uint64_t stream) = 0;
  virtual Number stream_id(DeviceIndex device, std::uint64_t stream) = 0;
};

// A stream as the caller names it.
struct StreamName {
  DeviceIndex device = 0;
  std::uint64_t handle = 0;
};

struct Request {
  DeviceIndex device = 0;
  std::uint64_t stream = 0;  // Its handle.
  Bytes size;
  Bytes alignment{512};
};

struct Outcome {
  ErrorCode code = ErrorCode::none;
  Address address;  // 0 if it failed, or if the request was for 0 bytes.
  // Of a request below 2^60 bytes that ran out of memory or was rejected, all but its processes.
  std::optional<MemoryReport> memory;
};
inline Outcome failed(ErrorCode code) { return {code, {}, {}}; }

// A segment that is there before the first request, with the blocks that tile it in order of
// address.
struct InitialBlock {
  Bytes size;
  bool allocated = false;  // Then its requested size is its size.
};
struct InitialSegment {
  DeviceIndex device = 0;
  Span span;
  PoolKind pool = PoolKind::small;
  StreamId stream;
  std::vector<InitialBlock> blocks;
};

class Model {
 public:
  // A device for each size of memory (what the driver says is the total). `environment` must
  // outlive the model.
  Model(const Options& options, const std::vector<Bytes>& total_memory, Environment& environment);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Segments are older the earlier they were added.
  void add_initial_segment(const InitialSegment& segment);

  Outcome allocate(const Request& request);
  // With `size` and `stream`: a checked free, an invalid_argument where they are not those of the
  // allocation (the size is the requested one).
  ErrorCode free(Address address, std::optional<Bytes> size = {},
                 std::optional<std::uint64_t> stream = {});
  ErrorCode empty_cache();
  ErrorCode record_stream(Address address, StreamName stream);
  ErrorCode free_on(Address address, StreamName stream);
  ErrorCode forget_stream(StreamName stream);
  ErrorCode process_events(DeviceIndex device);
  ErrorCode set_memory_fraction(DeviceIndex device, double fraction);
  // `wanted`: what the text makes of the settings of now; none where it cannot be read.
  ErrorCode reconfigure(const std::optional<Options>& wanted);
  const Options& options() const;  // The settings of now.

  // For `expect`: the streams that use a live block beside its own, in order.
  std::vector<StreamKey> uses(Address address) const;

  BlockMap map(DeviceIndex device) const;
  const DeviceStats& stats(DeviceIndex device) const;
  void reset_peak_stats();
  void reset_accumulated_stats();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cairn::model
