// Any mixture of calls and failures: the statistics stay a recount of the map, and the driver is
// asked nothing that cannot be.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "invariants/model/test_world.h"

namespace cairn::model {
namespace {

using namespace literals;

constexpr int devices = 2;

// Answers as chance has it, and looks at what it is asked.
class RandomDriver : public Environment {
 public:
  explicit RandomDriver(std::uint32_t seed) : random_(seed) {}

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  std::size_t event_count() const { return contexts_.size(); }

  std::uint64_t thread_number() override { return 1 + below(2); }
  Allocated malloc(DeviceIndex, Bytes size) override {
    if (below(4) == 0) return {2, {}};
    if (const int code = chance()) return {code, {}};
    const Address given = std::exchange(next_, next_ + size);
    held_.insert(given);
    return {0, given};
  }
  int free(DeviceIndex, Address address) override {
    if (const int code = chance()) return code;
    EXPECT_EQ(held_.erase(address), 1U);
    return 0;
  }
  Memory mem_info(DeviceIndex) override { return {chance(), {}, {}}; }
  Number event_create(DeviceIndex device, std::uint64_t context) override {
    if (const int code = chance()) return {code, 0};
    const std::uint64_t event = contexts_.size() + 1;
    contexts_[event] = {device, context};
    return {0, event};
  }
  int event_record(DeviceIndex device, std::uint64_t stream, std::uint64_t event) override {
    const bool has_context = stream > 2;
    EXPECT_EQ(contexts_[event], std::pair(device, has_context ? context_of(stream) : 0));
    return recorded(event, chance());
  }
  int ctx_record(DeviceIndex device, std::uint64_t event) override {
    EXPECT_EQ(contexts_[event], std::pair(device, std::uint64_t{0}));
    return recorded(event, below(4) == 0 ? 801 : chance());
  }
  Queried event_query(DeviceIndex device, std::uint64_t event) override {
    EXPECT_EQ(recorded_.count(event), 1U);
    EXPECT_EQ(contexts_[event].first, device);
    const int code = chance();
    const bool is_done = code == 0 && below(2) == 0;
    if (is_done) recorded_.erase(event);
    return {code, is_done};
  }
  // For a release it stays in its queue, and may be asked of again.
  int event_sync(DeviceIndex device, std::uint64_t event) override {
    EXPECT_EQ(contexts_[event].first, device);
    return chance();
  }
  int stream_sync(DeviceIndex, std::uint64_t) override { return chance(); }
  int device_sync(DeviceIndex) override { return chance(); }
  Number stream_ctx(DeviceIndex, std::uint64_t stream) override {
    return {chance(), context_of(stream)};
  }
  Number stream_id(DeviceIndex, std::uint64_t stream) override {
    return {0, 100 + stream * 8 + below(2)};
  }

 private:
  static std::uint64_t context_of(std::uint64_t stream) { return stream == 3 ? 1 : 0; }

  int chance() {
    if (below(8) > 0) return 0;
    return below(2) == 0 ? 400 : 999;
  }
  int recorded(std::uint64_t event, int code) {
    if (code == 0) recorded_.insert(event);
    return code;
  }

  std::mt19937 random_;
  Address next_{1 << 30};
  std::set<Address> held_;
  std::map<std::uint64_t, std::pair<DeviceIndex, std::uint64_t>> contexts_;
  std::set<std::uint64_t> recorded_;
};

class Mixture {
 public:
  Mixture(std::uint32_t seed, const Options& options)
      : driver_(seed), options_(options), model_(options, {8_GiB, 8_GiB}, driver_) {}

  void step() {
    const auto choice = below(32);
    if (choice < 12) return allocate();
    if (choice < 28 && !live_.empty()) return with_a_live_block(choice);
    if (choice == 28) model_.forget_stream(stream());
    if (choice == 29) model_.process_events(device());
    if (choice == 30) reconfigure();
    if (choice == 31) model_.empty_cache();
  }
  const Model& model() const { return model_; }
  std::size_t live_count() const { return live_.size(); }
  std::size_t event_count() const { return driver_.event_count(); }

 private:
  std::uint32_t below(std::uint32_t n) { return driver_.below(n); }
  DeviceIndex device() { return static_cast<DeviceIndex>(below(devices)); }
  StreamName stream() { return {device(), below(6)}; }

  void allocate() {
    const Bytes size{(std::uint64_t{1} << below(26)) + below(1000)};
    const Outcome outcome = model_.allocate({device(), below(6), size, 512_B});
    EXPECT_EQ(outcome.memory.has_value(),
              outcome.code == ErrorCode::out_of_memory || outcome.code == ErrorCode::rejected);
    if (outcome.code == ErrorCode::none) live_.push_back(outcome.address);
  }

  void with_a_live_block(std::uint32_t choice) {
    const std::size_t chosen = below(static_cast<std::uint32_t>(live_.size()));
    const Address address = live_[chosen];
    if (choice < 18) {
      EXPECT_EQ(model_.record_stream(address, stream()), ErrorCode::none);
      return;
    }
    const auto uses = model_.uses(address);
    const ErrorCode code = choice < 26 ? model_.free(address) : model_.free_on(address, stream());
    if (code != ErrorCode::none) {
      EXPECT_EQ(model_.uses(address), uses);  // Nothing has changed.
      return;
    }
    live_[chosen] = live_.back();
    live_.pop_back();
  }

  void reconfigure() {
    options_.max_split_size_bytes = below(2) == 0 ? (24_MiB).count : Options::unlimited;
    options_.garbage_collection_threshold = below(2) == 0 ? 0.1 : 0.0;
    options_.throw_on_cudamalloc_oom = below(2) == 0;
    options_.per_process_memory_fraction = below(2) == 0 ? 0.02 : 1.0;
    EXPECT_EQ(model_.reconfigure(options_), ErrorCode::none);
    EXPECT_EQ(model_.set_memory_fraction(device(), below(2) == 0 ? 0.03 : 1.0), ErrorCode::none);
  }

  RandomDriver driver_;
  Options options_;
  Model model_;
  std::vector<Address> live_;
};

void run_mixture(std::uint32_t seed, StreamIdentity identity) {
  Options options;
  options.stream_identity = identity;
  Mixture mixture(seed, options);
  const Model& model = mixture.model();
  for (int step = 0; step < 2000; ++step) {
    mixture.step();
    ASSERT_TRUE(statistics_recount(model, 0)) << "seed " << seed << ", after step " << step;
    ASSERT_TRUE(statistics_recount(model, 1)) << "seed " << seed << ", after step " << step;
  }
  const auto live = model.stats(0).allocation.all.current + model.stats(1).allocation.all.current;
  EXPECT_EQ(live, static_cast<std::int64_t>(mixture.live_count()));
  EXPECT_GT(mixture.event_count(), 3U);
  EXPECT_GT(model.stats(0).num_ooms, 0);
}

TEST(Mixture, TheStatisticsAreAlwaysARecountOfTheMap) {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    run_mixture(seed, StreamIdentity::handle);
    run_mixture(seed, StreamIdentity::id);
  }
}

}  // namespace
}  // namespace cairn::model
