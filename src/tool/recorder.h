// Makes a Recording of an allocator at work: it keeps a copy of the block maps, and writes down
// where these come to differ from it.
//
// While no driver call is made only the segment of the operation's own block can change, so only
// that one is compared; else all are.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "allocator/all_devices.h"
#include "driver/recording_driver.h"
#include "tool/recording.h"

namespace cairn::tool {

class Recorder {
 public:
  // Of a run of so many operations. The devices outlive it, and nobody else uses them.
  Recorder(AllDevices& devices, std::uint64_t operations);

  // Writes down what is now as the next moment. The first is the start. `address` is that of the
  // operation's block (0: none), `calls` those that it made.
  void note(Address address, const std::vector<RecordedCall>& calls);

  Recording take() { return std::move(recording_); }

 private:
  void compare_all(std::vector<MapChange>& changes);
  void remove_those_not_in(const BlockMap& now, std::vector<MapChange>& changes);
  void compare_segment_of(Address address, std::vector<MapChange>& changes);
  void add(SegmentInfo segment, std::vector<MapChange>& changes);
  void retile(SegmentInfo& before, std::vector<BlockInfo> now, std::vector<MapChange>& changes);
  void count_in(const BlockInfo& block);
  void count_out(const BlockInfo& block);
  void check_now();

  AllDevices& devices_;
  const std::uint64_t operations_;
  std::map<std::uint64_t, SegmentInfo> segments_;  // Of all devices, by address.
  Totals totals_;                                  // Of segments_, but for largest_free.
  std::multiset<std::uint64_t> free_sizes_;        // Of the free blocks in segments_.
  Recording recording_;
};

}  // namespace cairn::tool
