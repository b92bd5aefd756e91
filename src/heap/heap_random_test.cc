// Long random runs: what serves each request is foretold by a scan of the map, and what each stream
// uses, waits for and may still use by lists of the test's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "heap/heap_in_test.h"

namespace cairn {
namespace {

using namespace literals;

constexpr DeviceIndex here = 2;  // The device of a HeapInTest.

struct Live {
  Address address;
  Bytes size;
  StreamId stream;
  std::set<StreamKey> uses;
};

struct Pending {
  Block* block;
  StreamId stream;
  std::int32_t event_count;
};

class RandomHeap {
 public:
  RandomHeap(std::uint32_t seed, const Options& options)
      : random_(seed), policy_(options), tie_(options.best_fit_tie), heap_(options) {}

  void allocate() {
    const HeapRequest request{streams_[below(3)], any_size(), any_alignment()};
    const Address foretold = best_fit(request);
    const Address hit = heap_.cached(request);
    ASSERT_EQ(hit, foretold) << request.requested.count << " on " << request.stream.value;
    const Address address = hit == Address{} ? add_segment(request) : hit;
    ASSERT_TRUE(is_aligned(address, request.alignment));
    const Span span = heap_->find_live(address)->span();
    ASSERT_GE(span.size, request.requested);
    for (const Live& other : live_) {
      ASSERT_FALSE(span.overlaps({other.address, other.size}));
    }
    ASSERT_TRUE(heap_->uses(*heap_->find_live(address)).empty());
    live_.push_back({address, span.size, request.stream, {}});
  }
  void free() {
    if (live_.empty()) return;
    std::swap(live_[below(live_.size())], live_.back());
    const Live& block = live_.back();
    const auto uses = heap_->uses(*heap_->find_live(block.address));
    ASSERT_TRUE(std::equal(uses.begin(), uses.end(), block.uses.begin(), block.uses.end()));
    if (block.uses.empty() || below(4) == 0) {
      heap_.free(block.address);
      may_be_in_use_.insert(block.stream);
    } else {
      const auto event_count = static_cast<std::int32_t>(block.uses.size());
      Block& pending = heap_.free_after_events(block.address, event_count);
      pending_.push_back({&pending, block.stream, event_count});
    }
    live_.pop_back();
  }
  void use() {
    if (live_.empty()) return;
    Live& block = live_[below(live_.size())];
    const StreamKey key{here + static_cast<int>(below(2)), streams_[below(3)]};
    const bool is_new = key != StreamKey{here, block.stream} && block.uses.insert(key).second;
    ASSERT_EQ(heap_.add_use(block.address, key), is_new);
    if (!block.uses.empty() && below(4) == 0) {
      heap_.remove_use(block.address, *block.uses.begin());
      block.uses.erase(block.uses.begin());
    }
  }
  void event_done() {
    if (pending_.empty()) return;
    std::swap(pending_[below(pending_.size())], pending_.back());
    Pending& waits = pending_.back();
    heap_.event_done(*waits.block);
    if (--waits.event_count > 0) return;
    may_be_in_use_.insert(waits.stream);
    pending_.pop_back();
  }
  void retire() {
    StreamId& stream = streams_[below(3)];
    const StreamId retired = retired_stream(++retired_);
    const StreamKey key{here, stream};
    ASSERT_EQ(heap_->knows(key), is_known(key));
    heap_.retire_stream(key, retired);
    ASSERT_FALSE(heap_->knows(key));
    for (Live& block : live_) {
      if (block.stream == stream) block.stream = retired;
      if (block.uses.erase(key) != 0) block.uses.insert({here, retired});
    }
    for (Pending& waits : pending_) {
      if (waits.stream == stream) waits.stream = retired;
    }
    if (may_be_in_use_.erase(stream) != 0) may_be_in_use_.insert(retired);
    if (below(2) == 0) stream = StreamId{0x1000 + retired_};  // Else the handle comes again.
  }
  void check_marks() {
    for (const SegmentInfo& segment : heap_->map()) {
      const StreamId stream{segment.stream};
      ASSERT_EQ(heap_->may_be_in_use(stream), may_be_in_use_.count(stream) != 0);
    }
  }
  void release_one() {
    const std::vector<const Segment*> segments = heap_->releasable();
    if (segments.empty()) return;
    const Segment& segment = *segments[below(segments.size())];
    const Address address = segment.span.begin;
    heap_->mark_idle(segment.stream);
    may_be_in_use_.erase(segment.stream);
    ages_.erase(address);
    heap_.remove_segment(address);
    if (below(8) == 0) heap_.drop_empty_shares();
  }
  std::size_t below(std::size_t n) { return random_() % n; }

 private:
  bool is_known(StreamKey key) {
    const BlockMap map = heap_->map();
    const auto is_of_stream = [&](const SegmentInfo& segment) {
      return key.device == here && segment.stream == key.id.value;
    };
    return std::any_of(map.begin(), map.end(), is_of_stream) ||
           std::any_of(live_.begin(), live_.end(),
                       [&](const Live& block) { return block.uses.count(key) != 0; });
  }
  // The free block of the request's stream and pool that comes first and has room.
  Address best_fit(const HeapRequest& request) {
    using Candidate = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
    const Bytes rounded = policy_.round(request.requested);
    const bool large = rounded > 1_MiB;
    std::vector<Candidate> candidates;
    for (const SegmentInfo& segment : heap_->map()) {
      if (segment.stream != request.stream.value || segment.is_large != large) continue;
      const bool by_age = tie_ == BestFitTie::segment;
      const std::uint64_t age = by_age ? ages_.at(Address{segment.address}) : 0;
      for (const BlockInfo& block : segment.blocks) {
        const Address start = round_up(Address{block.address}, request.alignment);
        const bool has_room = start + rounded <= Address{block.address + block.size_bytes};
        if (block.state != BlockState::inactive || !has_room) continue;
        candidates.emplace_back(block.size_bytes, age, block.address);
      }
    }
    if (candidates.empty()) return {};
    const auto& [size, age, address] = *std::min_element(candidates.begin(), candidates.end());
    if (!policy_.may_serve(rounded, Bytes{size})) return {};
    return round_up(Address{address}, request.alignment);
  }
  Address add_segment(const HeapRequest& request) {
    // Upwards and downwards in turn, so that age and address disagree.
    const std::uint64_t n = ++segments_;
    const Address at{(n % 2 == 0 ? 0x7e0000000000 : 0x7f0000000000 - n * (1 << 30)) +
                     n * (1 << 29)};
    heap_.next_segment_at(at);
    ages_[at] = n;
    return heap_.fresh(request);
  }
  Bytes any_size() {
    static constexpr std::array sizes{1_B,           512_B,  513_B,          4_KiB,  512_KiB,
                                      1_MiB - 512_B, 1_MiB,  1_MiB + 512_B,  2_MiB,  9_MiB,
                                      10_MiB,        19_MiB, 10_MiB - 512_B, 11_MiB, 20_MiB,
                                      40_MiB,        64_MiB, 64_MiB - 512_B, 100_MiB};
    return below(4) == 0 ? Bytes{below(6 << 20) + 1} : sizes[below(sizes.size())];
  }
  Bytes any_alignment() { return Bytes{std::uint64_t{512} << (below(4) == 0 ? below(13) : 0)}; }

  std::mt19937_64 random_;
  const SizePolicy policy_;
  const BestFitTie tie_;
  HeapInTest heap_;
  std::array<StreamId, 3> streams_{s0, s1, s2};
  std::uint64_t retired_ = 0;
  std::vector<Live> live_;
  std::vector<Pending> pending_;
  std::set<StreamId> may_be_in_use_;
  std::map<Address, std::uint64_t> ages_;
  std::uint64_t segments_ = 0;
};

void run(std::uint32_t seed, const Options& options) {
  RandomHeap heap(seed, options);
  for (int step = 0; step < 1500; ++step) {
    const std::size_t grows = step / 250 % 2 == 0 ? 6 : 3;
    const std::size_t choice = heap.below(10);
    if (choice < grows) {
      heap.allocate();
    } else if (choice < 9 || heap.below(4) != 0) {
      heap.free();
    } else {
      heap.release_one();
    }
    if (heap.below(2) == 0) heap.use();
    if (heap.below(2) == 0) heap.event_done();
    if (heap.below(100) == 0) heap.retire();
    heap.check_marks();
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << ", step " << step;
  }
}

TEST(HeapRandom, BestFitIsTheMapsByAge) { run(11, {}); }

TEST(HeapRandom, BestFitIsTheMapsByAddress) {
  Options options;
  options.best_fit_tie = BestFitTie::address;
  run(12, options);
}

TEST(HeapRandom, BestFitIsTheMapsWithALimitOfSplits) {
  Options options;
  options.max_split_size_bytes = (20_MiB).count;
  options.max_non_split_rounding_bytes = (32_MiB).count;
  run(13, options);
}

TEST(HeapRandom, BestFitIsTheMapsWithDivisions) {
  Options options;
  options.roundup_power2_divisions.fill(4);
  run(14, options);
}

}  // namespace
}  // namespace cairn
