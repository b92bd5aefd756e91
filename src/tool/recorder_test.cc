#include "tool/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "simulator/simulated_driver.h"
#include "testing/parser.h"
#include "tool/replay_machine.h"

namespace cairn::tool {
namespace {

bool is_same_block(const BlockInfo& a, const BlockInfo& b) {
  return a.address == b.address && a.size_bytes == b.size_bytes &&
         a.requested_size_bytes == b.requested_size_bytes && a.state == b.state;
}

// A map that follows a recording, as a reader of it does.
class Follower {
 public:
  void apply(const Moment& moment) {
    for (const MapChange& change : moment.changes) apply(change);
  }
  BlockMap map(int device) const {
    BlockMap map;
    for (const auto& [address, segment] : segments_) {
      if (segment.device == device) map.push_back(segment);
    }
    return map;
  }
  std::uint32_t digest(int devices) const {
    std::uint32_t all = empty_digest;
    for (int device = 0; device < devices; ++device) all = tool::digest(map(device), all);
    return all;
  }

 private:
  void apply(const MapChange& change) {
    const SegmentInfo& segment = change.segment;
    if (change.kind == MapChange::Kind::removed) {
      EXPECT_EQ(segments_.erase(segment.address), 1U);
    } else if (change.kind == MapChange::Kind::added) {
      EXPECT_TRUE(segments_.emplace(segment.address, segment).second);
    } else {
      retile(segments_.at(segment.address).blocks, segment.blocks);
    }
  }
  // What the new blocks cover goes; it has to end where they end.
  static void retile(std::vector<BlockInfo>& blocks, const std::vector<BlockInfo>& now) {
    const auto starts_at = [&blocks](std::uint64_t address) {
      return std::find_if(blocks.begin(), blocks.end(),
                          [address](const BlockInfo& block) { return block.address >= address; });
    };
    const auto first = starts_at(now.front().address);
    const auto last = starts_at(now.back().address + now.back().size_bytes);
    ASSERT_NE(first, blocks.end());
    EXPECT_EQ(first->address, now.front().address);
    const auto& covered_last = *std::prev(last);
    EXPECT_EQ(covered_last.address + covered_last.size_bytes,
              now.back().address + now.back().size_bytes);
    blocks.insert(blocks.erase(first, last), now.begin(), now.end());
  }

  std::map<std::uint64_t, SegmentInfo> segments_;
};

bool is_same_segment(const SegmentInfo& a, const SegmentInfo& b) {
  return a.device == b.device && a.address == b.address && a.size_bytes == b.size_bytes &&
         a.stream == b.stream && a.is_large == b.is_large &&
         std::equal(a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(),
                    is_same_block);
}
bool is_same(const BlockMap& a, const BlockMap& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same_segment);
}

// Two small devices, and an allocator that is recorded while it does what is drawn: blocks of all
// sizes on several streams, used by others, freed with work under way, until memory runs out.
class Recorded {
 public:
  static constexpr int operations = 3000;

  Recorded() { recorder_.note({}, driver_.take_record()); }

  void step() {
    const int what = draw(100);
    Address address;
    if (what < 55) {
      address = allocate();
    } else if (what < 98) {
      address = free();
    } else if (what < 99) {
      EXPECT_TRUE(devices_.empty_cache());
    } else {
      gpu_.advance(5);
    }
    recorder_.note(address, driver_.take_record());
  }
  BlockMap map(int device) { return devices_.device(device).map(); }
  DeviceStats stats(int device) { return devices_.device(device).stats(); }
  Recorder& recorder() { return recorder_; }

 private:
  struct Live {
    Address address;
    int device = 0;
    std::uint64_t stream = 0;
  };

  int draw(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  static Stream as_stream(std::uint64_t handle) {
    return reinterpret_cast<Stream>(static_cast<std::uintptr_t>(handle));
  }

  Address allocate() {
    const int device = draw(2);
    const std::size_t sizes[] = {700, 60'000, 900'000, 3'000'000, 14'000'000, 40'000'000};
    const std::uint64_t stream = streams_[device][draw(2)].handle;
    const std::size_t size = sizes[draw(6)] + static_cast<std::size_t>(draw(700));
    const std::size_t alignment = draw(10) == 0 ? 65536 : 512;
    const auto address = devices_.allocate({size, device, as_stream(stream), alignment});
    if (!address) return {};
    live_.push_back({*address, device, stream});
    return *address;
  }
  Address free() {
    if (live_.empty()) return {};
    std::swap(live_[static_cast<std::size_t>(draw(static_cast<int>(live_.size())))], live_.back());
    const Live block = live_.back();
    live_.pop_back();
    if (draw(3) == 0) {
      const StreamRef other = streams_[block.device][draw(2)];
      EXPECT_TRUE(gpu_.launch(other, {}, 3));
      EXPECT_TRUE(devices_.record_stream(block.address, as_stream(other.handle), block.device));
    }
    EXPECT_TRUE(devices_.free(block.address, nullptr));
    return block.address;
  }

  simulator::SimulatedGpu gpu_{{{Bytes{256u << 20}}, {Bytes{512u << 20}, false, true}}};
  simulator::SimulatedDriver below_{gpu_};
  RecordingDriver driver_{below_};
  AllDevices devices_{driver_, {}};
  StreamRef streams_[2][2] = {{*gpu_.make_stream({.device = 0}), *gpu_.make_stream({.device = 0})},
                              {*gpu_.make_stream({.device = 1}), *gpu_.make_stream({.device = 1})}};
  Recorder recorder_{devices_, operations};
  std::vector<Live> live_;
  std::mt19937 random_{20};
};

std::uint64_t largest_free_in(const BlockMap& map) {
  std::uint64_t largest = 0;
  for (const SegmentInfo& segment : map)
    for (const BlockInfo& block : segment.blocks)
      if (block.state == BlockState::inactive) largest = std::max(largest, block.size_bytes);
  return largest;
}

bool has_pending(const BlockMap& map) {
  return std::any_of(map.begin(), map.end(), [](const SegmentInfo& segment) {
    return std::any_of(segment.blocks.begin(), segment.blocks.end(), [](const BlockInfo& block) {
      return block.state == BlockState::active_pending_free;
    });
  });
}

TEST(Recorder, EachMomentIsTheAllocatorsOwnMapAndItsTotals) {
  Recorded recorded;
  std::vector<std::vector<BlockMap>> maps{{recorded.map(0), recorded.map(1)}};
  std::vector<Totals> totals{{}};
  int moments_with_pending = 0;
  for (int i = 0; i < Recorded::operations; ++i) {
    recorded.step();
    maps.push_back({recorded.map(0), recorded.map(1)});
    Totals& now = totals.emplace_back();
    for (std::size_t device = 0; device < 2; ++device) {
      const DeviceStats stats = recorded.stats(static_cast<int>(device));
      now.reserved += static_cast<std::uint64_t>(stats.reserved_bytes.all.current);
      now.active += static_cast<std::uint64_t>(stats.active_bytes.all.current);
      now.allocated += static_cast<std::uint64_t>(stats.allocated_bytes.all.current);
      now.requested += static_cast<std::uint64_t>(stats.requested_bytes.all.current);
      now.largest_free = std::max(now.largest_free, largest_free_in(maps.back()[device]));
    }
    moments_with_pending += has_pending(maps.back()[0]) || has_pending(maps.back()[1]) ? 1 : 0;
  }
  EXPECT_GT(moments_with_pending, 100);
  EXPECT_GT(recorded.stats(0).num_ooms + recorded.stats(1).num_ooms, 0);

  const Recording recording = recorded.recorder().take();
  ASSERT_EQ(recording.moments.size(), maps.size());
  Follower follower;
  auto check = recording.checks.begin();
  for (std::size_t i = 0; i < maps.size(); ++i) {
    follower.apply(recording.moments[i]);
    ASSERT_TRUE(is_same(follower.map(0), maps[i][0])) << "moment " << i;
    ASSERT_TRUE(is_same(follower.map(1), maps[i][1])) << "moment " << i;
    ASSERT_EQ(recording.moments[i].totals, totals[i]) << "moment " << i;
    if (check == recording.checks.end() || check->moment != i) continue;
    EXPECT_EQ(check->digest, follower.digest(2));
    ++check;
  }
  EXPECT_EQ(check, recording.checks.end());
  EXPECT_EQ(recording.checks.back().moment, maps.size() - 1);
}

Recording recording_of(const std::string& text) {
  const auto program = cairn::testing::parse_program(text);
  const auto plan = plan_replay(*program);
  EXPECT_TRUE(plan);
  auto recording = record(*plan);
  EXPECT_TRUE(recording);
  return *recording;
}

TEST(Recorder, AMomentSaysWhatItsOperationDid) {
  const Recording recording = recording_of("alloc a 30MiB\nalloc b 10MiB\nfree a\nempty_cache\n");
  ASSERT_EQ(recording.moments.size(), 5U);
  const Moment& first = recording.moments[1];
  EXPECT_EQ(first.calls, std::vector<DriverCall>{DriverCall::malloc});
  ASSERT_EQ(first.changes.size(), 1U);
  EXPECT_EQ(first.changes[0].kind, MapChange::Kind::added);
  EXPECT_EQ(first.changes[0].segment.address, first.address.value);
  const Moment& freed = recording.moments[3];
  EXPECT_EQ(freed.address, first.address);
  EXPECT_TRUE(freed.calls.empty());
  EXPECT_EQ(freed.totals.allocated, 10U << 20);
  EXPECT_EQ(freed.totals.reserved, 40U << 20);
  EXPECT_EQ(freed.totals.largest_free, 30U << 20);
  ASSERT_EQ(freed.changes.size(), 1U);
  EXPECT_EQ(freed.changes[0].kind, MapChange::Kind::retiled);
  EXPECT_EQ(freed.changes[0].segment.blocks.size(), 1U);
  EXPECT_EQ(recording.moments[4].totals.reserved, 10U << 20);
  EXPECT_EQ(recording.moments[4].totals.largest_free, 0U);
}

TEST(Recorder, ItsPeaksAreThoseThatReplayMeasures) {
  const std::string text =
      "gpu 0 memory=64MiB\n"
      "segment 0x7e0000000000 20MiB large s0\nblock w 4MiB\nblock - 16MiB\n"
      "alloc a 30MiB s1\nfree a\nalloc b 40MiB\nfree w\nalloc c 100MiB -> out_of_memory\n";
  const Recording recording = recording_of(text);
  EXPECT_EQ(recording.moments.front().totals.reserved, 20U << 20);
  Totals most;
  for (const Moment& moment : recording.moments) {
    most.reserved = std::max(most.reserved, moment.totals.reserved);
    most.allocated = std::max(most.allocated, moment.totals.allocated);
  }
  const auto figures = replay(*plan_replay(*cairn::testing::parse_program(text)));
  ASSERT_TRUE(figures);
  EXPECT_EQ(most.reserved, figures->peak_reserved);
  EXPECT_EQ(most.allocated, figures->peak_allocated);
}

}  // namespace
}  // namespace cairn::tool
