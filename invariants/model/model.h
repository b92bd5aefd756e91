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

// Stands in for the driver. The model makes a call here whenever the allocator must make one; who
// implements it answers with what the real driver answered, and takes note if that call was not
// made.
class Environment {
 public:
  virtual ~Environment() = default;

  struct Allocated {
    int cuda_code = 0;  // 0 is success.
    Address address;
  };
  virtual Allocated malloc(DeviceIndex device, Bytes size) = 0;
  virtual int free(DeviceIndex device, Address address) = 0;  // Gives the CUDA code, 0 is success.
  virtual int mem_info(DeviceIndex device) = 0;               // Likewise.
};

struct Request {
  DeviceIndex device = 0;
  StreamId stream;
  Bytes size;
  Bytes alignment{512};
};

struct Outcome {
  ErrorCode code = ErrorCode::none;
  Address address;  // 0 if it failed, or if the request was for 0 bytes.
};

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
  // `environment` must outlive the model.
  Model(const Options& options, int device_count, Environment& environment);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Segments are older the earlier they were added.
  void add_initial_segment(const InitialSegment& segment);

  Outcome allocate(const Request& request);
  // With `size` and `stream`: a checked free, an invalid_argument where they are not those of the
  // allocation (the size is the requested one).
  ErrorCode free(Address address, std::optional<Bytes> size = {},
                 std::optional<StreamId> stream = {});
  ErrorCode empty_cache();

  BlockMap map(DeviceIndex device) const;
  DeviceStats stats(DeviceIndex device) const;
  void reset_peak_stats();
  void reset_accumulated_stats();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cairn::model
