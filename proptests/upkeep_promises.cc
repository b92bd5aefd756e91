// What goes on beside the requests: statistics, events, and that all comes back in the end.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "promises.h"
#include "testing/printer.h"

namespace cairn::testing {
namespace {

template <class Promised>
std::unique_ptr<Promise> make(Tally& tally) {
  return std::make_unique<Promised>(tally);
}

// The judge of the simulated GPU sees memory that is handed out too early. Here is counted whether
// there was something to see.
class NoEarlyReuse final : public Promise {
 public:
  using Promise::Promise;

  std::optional<Difference> after(const Sight& sight) override {
    const auto* free = sight.as<Free>();
    if (sight.succeeded && sight.as<Use>() != nullptr) count("uses");
    if (sight.succeeded && free != nullptr && free->on) count("frees on another stream");
    if (sight.as<Launch>() != nullptr) count("launches");
    const auto waiting = [](const Sights& sights) {
      std::int64_t blocks = 0;
      for (const DeviceSight& device : sights)
        blocks += device.stats.active.all.current - device.stats.allocation.all.current;
      return blocks;
    };
    if (free != nullptr && waiting(sight.now) > waiting(sight.before)) count("blocks that wait");
    const bool is_hit = sight.as<Alloc>() != nullptr && sight.succeeded &&
                        sight.calls(DriverCall::malloc, false) == 0;
    if (is_hit) count("hits");
    return std::nullopt;
  }
};

struct NamedStat {
  const char* name;
  StatArray DeviceStats::* array;
};
constexpr std::array arrays{NamedStat{"allocation", &DeviceStats::allocation},
                            NamedStat{"segment", &DeviceStats::segment},
                            NamedStat{"active", &DeviceStats::active},
                            NamedStat{"inactive_split", &DeviceStats::inactive_split},
                            NamedStat{"allocated_bytes", &DeviceStats::allocated_bytes},
                            NamedStat{"reserved_bytes", &DeviceStats::reserved_bytes},
                            NamedStat{"active_bytes", &DeviceStats::active_bytes},
                            NamedStat{"inactive_split_bytes", &DeviceStats::inactive_split_bytes},
                            NamedStat{"requested_bytes", &DeviceStats::requested_bytes}};

// Calls `each` with the name and both values of every Stat of both.
template <class Each>
std::optional<Difference> for_each_stat(const DeviceStats& a, const DeviceStats& b,
                                        const Each& each) {
  for (const auto& [name, array] : arrays) {
    for (const auto part : {&StatArray::all, &StatArray::small_pool, &StatArray::large_pool}) {
      if (auto difference = each(name, a.*array.*part, b.*array.*part)) return difference;
    }
  }
  for (const auto& [name, stat] :
       {std::pair{"oversize_allocations", &DeviceStats::oversize_allocations},
        std::pair{"oversize_segments", &DeviceStats::oversize_segments}}) {
    if (auto difference = each(name, a.*stat, b.*stat)) return difference;
  }
  return std::nullopt;
}

void add(StatArray& array, bool is_large, std::uint64_t amount) {
  const auto signed_amount = static_cast<std::int64_t>(amount);
  array.all.current += signed_amount;
  (is_large ? array.large_pool : array.small_pool).current += signed_amount;
}

void recount(const SegmentInfo& segment, const BlockInfo& block, DeviceStats& stats) {
  const bool is_large = segment.is_large;
  if (block.state == BlockState::active_allocated) {
    add(stats.allocation, is_large, 1);
    add(stats.allocated_bytes, is_large, block.size_bytes);
    if (block.size_bytes >= stats.max_split_size_bytes) ++stats.oversize_allocations.current;
  }
  if (block.state != BlockState::inactive) {
    add(stats.active, is_large, 1);
    add(stats.active_bytes, is_large, block.size_bytes);
    add(stats.requested_bytes, is_large, block.requested_size_bytes);
  } else if (segment.blocks.size() > 1) {
    add(stats.inactive_split, is_large, 1);
    add(stats.inactive_split_bytes, is_large, block.size_bytes);
  }
}

// What stands in the map, counted.
DeviceStats recount(const BlockMap& map, std::uint64_t max_split_size_bytes) {
  DeviceStats stats;
  stats.max_split_size_bytes = max_split_size_bytes;
  for (const SegmentInfo& segment : map) {
    add(stats.segment, segment.is_large, 1);
    add(stats.reserved_bytes, segment.is_large, segment.size_bytes);
    if (segment.size_bytes >= max_split_size_bytes) ++stats.oversize_segments.current;
    for (const BlockInfo& block : segment.blocks) recount(segment, block, stats);
  }
  return stats;
}

Difference differ(const std::string& name, const std::string& expected, std::int64_t found) {
  return {name + " " + expected, std::to_string(found)};
}

// Statistics are a recount of the map; a peak is the highest that was ever seen, or above; what was
// added less what was taken off is the change; counters count the driver calls and failures.
class Statistics final : public Promise {
 public:
  using Promise::Promise;

  std::optional<Difference> after(const Sight& sight) override {
    const auto* reset = sight.as<Reset>();
    if (sight.deed == nullptr && reset == nullptr) return std::nullopt;
    for (std::size_t device = 0; device < sight.now.size(); ++device) {
      const DeviceStats& was = sight.before[device].stats;
      const DeviceStats& is = sight.now[device].stats;
      if (auto difference = miscounted(sight.now[device], max_split_size(sight))) return difference;
      if (auto difference = misremembered(was, is, reset)) return difference;
      const bool is_meant = static_cast<DeviceIndex>(device) == sight.device();
      if (reset != nullptr || !is_meant) continue;
      if (auto difference = miscounted_calls(sight, was, is)) return difference;
    }
    count(reset == nullptr ? "operations" : "resets");
    return std::nullopt;
  }

 private:
  static std::uint64_t max_split_size(const Sight& sight) {
    const Options& before = sight.book.settings();
    const auto* changed = sight.as<Reconfigure>();
    if (changed == nullptr || !sight.succeeded) return before.max_split_size_bytes;
    return parse_settings(changed->text, before, SettingsDialect::cairn)
        .options.max_split_size_bytes;
  }

  static std::optional<Difference> miscounted(const DeviceSight& device, std::uint64_t max_split) {
    if (device.stats.max_split_size_bytes != max_split)
      return Difference{"max_split_size " + std::to_string(max_split),
                        std::to_string(device.stats.max_split_size_bytes)};
    const DeviceStats counted = recount(device.map, max_split);
    return for_each_stat(
        counted, device.stats,
        [](const char* name, const Stat& map, const Stat& stat) -> std::optional<Difference> {
          if (map.current == stat.current) return std::nullopt;
          return differ(name, std::to_string(map.current) + " by the map", stat.current);
        });
  }

  static std::optional<Difference> misremembered(const DeviceStats& was, const DeviceStats& is,
                                                 const Reset* reset) {
    const bool ends_peak = reset != nullptr && reset->what == ResetWhat::peak;
    const bool ends_sums = reset != nullptr && reset->what == ResetWhat::accumulated;
    const auto begun_with = [](const Stat& s) { return s.current - s.allocated + s.freed; };
    return for_each_stat(
        was, is,
        [&](const char* name, const Stat& old, const Stat& stat) -> std::optional<Difference> {
          const std::int64_t least = ends_peak ? stat.current : std::max(old.peak, stat.current);
          if (stat.peak < least || (reset != nullptr && stat.peak > least))
            return differ(name, "with a peak of " + std::to_string(least), stat.peak);
          const std::int64_t begin = ends_sums ? stat.current : begun_with(old);
          if (begun_with(stat) != begin)
            return differ(name, "that began with " + std::to_string(begin), begun_with(stat));
          if (!ends_sums && (stat.allocated < old.allocated || stat.freed < old.freed))
            return differ(name, "that adds up", stat.allocated);
          return std::nullopt;
        });
  }

  static std::optional<Difference> miscounted_calls(const Sight& sight, const DeviceStats& was,
                                                    const DeviceStats& is) {
    const auto grown = [&](std::int64_t DeviceStats::* counter) {
      return is.*counter - was.*counter;
    };
    const auto calls = [&](DriverCall call) {
      return std::ranges::count_if(sight.deed->calls, [&](const RecordedCall& made) {
        return made.call == call && made.status == CudaStatus::success &&
               made.device == sight.device();
      });
    };
    const bool has_report = sight.deed->error.memory != nullptr;
    const bool is_oom = has_report && sight.error() == ErrorCode::out_of_memory;
    const bool is_rejected = has_report && sight.error() == ErrorCode::rejected;
    if (grown(&DeviceStats::num_ooms) != is_oom)
      return differ("num_ooms", is_oom ? "+1" : "as before", is.num_ooms);
    if (grown(&DeviceStats::num_oom_rejections) != is_rejected)
      return differ("num_oom_rejections", is_rejected ? "+1" : "as before", is.num_oom_rejections);
    if (grown(&DeviceStats::num_device_alloc) != calls(DriverCall::malloc))
      return differ("num_device_alloc", "with the calls", is.num_device_alloc);
    const std::int64_t frees = calls(DriverCall::free);
    if (grown(&DeviceStats::num_device_free) != frees)
      return differ("num_device_free", "with the calls", is.num_device_free);
    return std::nullopt;
  }
};

// A block whose events are all done is free after the allocator looked at the events of its device.
// They are done where each device was waited for since the block was freed, or has no work.
class EventProgress final : public Promise {
 public:
  using Promise::Promise;

  std::optional<Difference> after(const Sight& sight) override {
    ++clock_;
    devices_.resize(sight.now.size());
    note_work(sight);
    if (sight.deed == nullptr) return std::nullopt;
    if (auto difference = overdue(sight)) return difference;
    note_waiting(sight.now);
    return std::nullopt;
  }

 private:
  using Key = std::pair<std::size_t, std::uint64_t>;  // Device, address.
  struct Device {
    std::uint64_t waited_for = 0;  // When all of it was, last.
    std::uint64_t launched = 0;    // When work was put on it, last.
  };

  void note_work(const Sight& sight) {
    const auto* sync = sight.as<Sync>();
    if (sync != nullptr && !sync->stream)
      at(sync->gpu.value_or(sight.device())).waited_for = clock_;
    if (const auto* made = sight.as<MakeStream>())
      streams_[made->stream] = made->gpu.value_or(sight.device());
    const auto* launch = sight.as<Launch>();
    if (launch == nullptr) return;
    const auto known = streams_.find(launch->stream);
    const bool is_default = launch->stream == "s0" || launch->stream == "ptds";
    for (Device& device : devices_) {
      const bool is_elsewhere = known != streams_.end() && &at(known->second) != &device;
      const bool is_not_current = is_default && &at(sight.device()) != &device;
      if (!is_elsewhere && !is_not_current) device.launched = clock_;
    }
  }

  Device& at(DeviceIndex device) { return devices_[static_cast<std::size_t>(device)]; }

  bool is_all_done(std::uint64_t since) const {
    return std::ranges::all_of(devices_, [since](const Device& device) {
      return device.waited_for > since || device.launched <= device.waited_for;
    });
  }

  std::optional<Difference> overdue(const Sight& sight) {
    const bool looks = request_or_poll(sight) && !sight.any_call_failed();
    if (!looks) return std::nullopt;
    const auto device = static_cast<std::size_t>(sight.device());
    std::uint64_t due = 0;
    for (const auto& [key, since] : waiting_)
      due += key.first == device && is_all_done(since) ? 1 : 0;
    count("blocks that became free", due);
    for (const SegmentInfo& segment : sight.device_now().map) {
      for (const BlockInfo& block : segment.blocks) {
        const auto since = waiting_.find({device, block.address});
        const bool is_due = since != waiting_.end() && is_all_done(since->second) &&
                            block.state == BlockState::active_pending_free;
        if (is_due) return Difference{"a free block, as all its events are done", describe(block)};
      }
    }
    return std::nullopt;
  }

  static bool request_or_poll(const Sight& sight) {
    const auto* alloc = sight.as<Alloc>();
    if (sight.as<Poll>() != nullptr) return sight.succeeded;
    return alloc != nullptr && sight.succeeded && alloc->size > Bytes{0};
  }

  void note_waiting(const Sights& now) {
    std::map<Key, std::uint64_t> waiting;
    for (std::size_t device = 0; device < now.size(); ++device) {
      for (const SegmentInfo& segment : now[device].map) {
        for (const BlockInfo& block : segment.blocks) {
          if (block.state != BlockState::active_pending_free) continue;
          const Key key{device, block.address};
          const auto known = waiting_.find(key);
          waiting[key] = known == waiting_.end() ? clock_ : known->second;
        }
      }
    }
    waiting_ = std::move(waiting);
  }

  std::uint64_t clock_ = 0;  // Statements.
  std::vector<Device> devices_;
  std::map<std::string, DeviceIndex> streams_;
  std::map<Key, std::uint64_t> waiting_;  // Blocks, since when.
};

// When all is freed, waited for and given back, nothing is left: no segment, nothing out at the
// driver, and every statistic at 0.
class AllReturned final : public Promise {
 public:
  using Promise::Promise;

  std::optional<Difference> after(const Sight&) override { return std::nullopt; }

  std::optional<Difference> at_the_end(const Book& book, const Sights& now) override {
    for (std::size_t device = 0; device < now.size(); ++device) {
      const auto& [map, stats, out, free] = now[device];
      const Bytes memory = book.memory(static_cast<DeviceIndex>(device));
      if (!map.empty()) return Difference{"no segment at the end", describe(map.front())};
      if (!out.empty())
        return Difference{"nothing out at the driver at the end",
                          print_size(out.front().size) + " at " + print_address(out.front().begin)};
      if (free != memory)
        return Difference{"all of " + print_size(memory) + " left at the end", print_size(free)};
      const auto above = for_each_stat(
          stats, stats,
          [](const char* name, const Stat& stat, const Stat&) -> std::optional<Difference> {
            if (stat.current == 0) return std::nullopt;
            return differ(name, "0 at the end", stat.current);
          });
      if (above) return above;
      if (stats.reserved_bytes.all.peak > 0) count("devices that were in use");
    }
    count("blocks live before the end", book.live().size());
    return std::nullopt;
  }
};

}  // namespace

const NamedPromise no_early_reuse{"no early reuse", make<NoEarlyReuse>};
const NamedPromise statistics{"statistics", make<Statistics>};
const NamedPromise event_progress{"event progress", make<EventProgress>};
const NamedPromise all_returned{"all returned", make<AllReturned>};

std::vector<NamedPromise> all_promises() {
  return {no_overlap,    tiling,         conservation, promised_state, must_succeed, no_rung_left,
          memory_report, no_early_reuse, statistics,   event_progress, all_returned};
}

}  // namespace cairn::testing
