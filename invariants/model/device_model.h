// The model of one device: searches, asks the driver, splits, merges, releases and counts as the
// documents say. What Model adds is the choice of the device and the checks at the door.
//
// Not thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/block_map.h"
#include "cairn/errors.h"
#include "cairn/options.h"
#include "cairn/stats.h"
#include "invariants/model/ledger.h"
#include "invariants/model/memory.h"
#include "invariants/model/model.h"

namespace cairn::model {

class DeviceModel {
 public:
  // `environment` must outlive the model.
  DeviceModel(const Options& options, DeviceIndex device, Environment& environment);

  void add_initial_segment(const InitialSegment& initial);

  // REQUIRES: the request has passed the door (0 < size < 2^60, alignment is one we give).
  Outcome allocate(const Request& request);
  std::optional<Place> live_block(Address address) const { return memory_.live_block(address); }
  const Memory& memory() const { return memory_; }
  void free(Place place);
  ErrorCode empty_cache();

  BlockMap map() const;
  const DeviceStats& stats() const { return ledger_.stats(); }
  void reset_peak_stats() { ledger_.reset_peak(); }
  void reset_accumulated_stats() { ledger_.reset_accumulated(); }

 private:
  // A request, and what follows from it.
  struct Wanted {
    Request request;
    Bytes size;  // Rounded.
    PoolKind pool = PoolKind::small;
  };
  enum class Release { enough, not_enough, driver_failed };

  std::optional<Place> best_fit(const Wanted& wanted) const;
  Outcome hand_out(Place place, const Wanted& wanted);
  void count_hand_out(const Segment& segment, const Block& found, const std::vector<Block>& pieces);

  ErrorCode new_segment(const Wanted& wanted);
  int ask_driver(const Wanted& wanted);
  Release release_oversize(const Wanted& wanted);
  bool release_all();
  bool release(Address segment);

  const Options options_;
  const DeviceIndex device_;
  Environment& environment_;
  Memory memory_;
  Ledger ledger_;
};

}  // namespace cairn::model
