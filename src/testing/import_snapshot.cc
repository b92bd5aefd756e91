#include "testing/import_snapshot.h"

#include <algorithm>
#include <bit>
#include <set>

#include "testing/import_recording.h"
#include "testing/import_rewind.h"
#include "testing/pickle.h"

namespace cairn::testing {
namespace {

using namespace cairn::literals;  // NOLINT
using Kind = Pickle::Kind;
using Value = Pickle::Value;

constexpr std::size_t most_keys = 256;  // Of a dict whose keys are looked for one by one.

// What all parts of one reading share. The first fault is kept, and ends it.
struct Reading {
  const Pickle& pickle;
  std::size_t entries_left;  // Entries may be shared: few bytes could hold very many.
  std::optional<ImportError> error;

  void fail(std::string where, std::string why) {
    if (!error) error = ImportError{std::move(where), std::move(why)};
  }
};

// A dict of the snapshot and where it stands. Getters give 0 or nothing once the reading has
// failed.
class Entry {
 public:
  Entry(Reading& reading, Value value, std::string where)
      : reading_(reading), value_(value), where_(std::move(where)) {
    if (value.kind != Kind::dict) {
      fail("is a " + std::string(to_string(value.kind)) + ", not a dict");
    } else if (reading.pickle.entries(value).size() > 2 * most_keys) {
      fail("has more than " + std::to_string(most_keys) + " keys");
    } else if (reading.entries_left == 0) {
      fail("there are more entries than the file has bytes: some are shared without end");
    } else {
      --reading.entries_left;
      is_good_ = true;
    }
  }

  const std::string& where() const { return where_; }
  void fail(std::string why) { reading_.fail(where_, std::move(why)); }

  const Value* find(std::string_view key) const {
    if (!is_good_ || reading_.error) return nullptr;
    const auto entries = reading_.pickle.entries(value_);
    for (std::size_t i = entries.size(); i >= 2; i -= 2) {
      const Value& name = entries[i - 2];
      if (name.kind == Kind::text && reading_.pickle.text(name) == key) return &entries[i - 1];
    }
    return nullptr;
  }

  const Value* get(std::string_view key, Kind kind) {
    const Value* const value = find(key);
    if (value == nullptr) {
      fail("has no '" + std::string(key) + "'");
    } else if (value->kind != kind) {
      fail("'" + std::string(key) + "' is a " + std::string(to_string(value->kind)) + ", not a " +
           std::string(to_string(kind)));
    } else {
      return value;
    }
    return nullptr;
  }

  std::uint64_t number(std::string_view key) {
    const Value* const value = get(key, Kind::integer);
    if (value == nullptr) return 0;
    if (Pickle::integer(*value) < 0) fail("'" + std::string(key) + "' is negative");
    return value->bits;
  }
  std::string_view text(std::string_view key) {
    const Value* const value = get(key, Kind::text);
    return value == nullptr ? std::string_view() : reading_.pickle.text(*value);
  }
  std::span<const Value> list(std::string_view key) {
    const Value* const value = get(key, Kind::list);
    return value == nullptr ? std::span<const Value>() : reading_.pickle.items(*value);
  }
  // Is the pool under this key one of a user's own, a pair other than (0, 0)?
  bool is_private(std::string_view key) const {
    const Value* const pool = find(key);
    if (pool == nullptr || (pool->kind != Kind::tuple && pool->kind != Kind::list)) return false;
    const auto ids = reading_.pickle.items(*pool);
    return std::any_of(ids.begin(), ids.end(), [](const Value& id) { return id.bits != 0; });
  }

 private:
  Reading& reading_;
  Value value_;
  std::string where_;
  bool is_good_ = false;
};

std::string indexed(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

class SnapshotReader {
 public:
  SnapshotReader(const Pickle& pickle, std::size_t file_size) : reading_{pickle, file_size, {}} {}

  std::optional<ImportError> read();
  Recording take_recording() { return std::move(recording_); }
  std::map<std::string, std::uint64_t>& skipped() { return skipped_; }

 private:
  void read_settings(const Value& value);
  void read_divisions(const Value& value);
  void read_segment(const Value& value, std::size_t index);
  RecordedBlock read_block(const Value& value, Address address, std::string where);
  void read_trace(const Value& value, std::size_t device);
  void read_event(Entry entry, DeviceIndex device);
  bool is_in_private_segment(Address address) const;

  Reading reading_;
  Recording recording_;
  std::map<std::string, std::uint64_t> skipped_;
  std::map<Address, Bytes> private_segments_;
};

std::optional<ImportError> SnapshotReader::read() {
  Entry snapshot(reading_, reading_.pickle.root(), "the snapshot");
  recording_.final.emplace();
  const auto segments = snapshot.list("segments");
  for (std::size_t i = 0; i < segments.size() && !reading_.error; ++i) read_segment(segments[i], i);
  if (const Value* settings = snapshot.find("allocator_settings")) read_settings(*settings);
  if (snapshot.find("device_traces") != nullptr) {
    const auto traces = snapshot.list("device_traces");
    for (std::size_t i = 0; i < traces.size() && !reading_.error; ++i) read_trace(traces[i], i);
  }
  return reading_.error;
}

void SnapshotReader::read_settings(const Value& value) {
  if (value.kind == Kind::none) return;
  Entry entry(reading_, value, "allocator_settings");
  RecordedSettings& settings = recording_.settings;
  if (entry.find("PYTORCH_CUDA_ALLOC_CONF") != nullptr) {
    settings.text = entry.text("PYTORCH_CUDA_ALLOC_CONF");
  }
  const Value* const limit = entry.find("max_split_size");
  if (limit != nullptr && limit->kind == Kind::integer && Pickle::integer(*limit) >= 0) {
    settings.max_split_size = Bytes{limit->bits};
  }
  const Value* const threshold = entry.find("garbage_collection_threshold");
  if (threshold != nullptr && threshold->kind == Kind::real) {
    settings.garbage_collection_threshold = Pickle::real(*threshold);
  }
  if (const Value* divisions = entry.find("roundup_power2_divisions")) read_divisions(*divisions);
}

void SnapshotReader::read_divisions(const Value& value) {
  Entry entry(reading_, value, "allocator_settings.roundup_power2_divisions");
  for (unsigned i = 0; i < recording_.settings.roundup_power2_divisions.size(); ++i) {
    const std::uint64_t divisions = entry.number(std::to_string(std::uint64_t{1} << i));
    if (divisions != 0 && !std::has_single_bit(divisions)) {
      entry.fail("holds " + std::to_string(divisions) + ", not a power of two");
    }
    recording_.settings.roundup_power2_divisions[i] = divisions;
  }
}

void SnapshotReader::read_segment(const Value& value, std::size_t index) {
  Entry entry(reading_, value, indexed("segments", index));
  RecordedSegment segment;
  segment.address = {entry.number("address")};
  segment.size = {entry.number("total_size")};
  segment.stream = entry.number("stream");
  const std::uint64_t device = entry.number("device");
  const std::string_view type = entry.text("segment_type");
  if (type != "small" && type != "large") entry.fail("'segment_type' is not small or large");
  if (device >= most_devices) entry.fail("'device' is " + std::to_string(device));
  const Value* const expandable = entry.find("is_expandable");
  if (expandable != nullptr && expandable->kind == Kind::boolean && Pickle::boolean(*expandable)) {
    entry.fail("is an expandable segment; these cannot be imported");
  }
  if (entry.is_private("segment_pool_id")) {
    private_segments_[segment.address] = segment.size;
    ++skipped_["segments of private pools"];
    return;
  }
  segment.device = static_cast<DeviceIndex>(device);
  segment.pool = type == "small" ? PoolKind::small : PoolKind::large;
  Address next = segment.address;
  const auto blocks = entry.list("blocks");
  for (std::size_t i = 0; i < blocks.size() && !reading_.error; ++i) {
    segment.blocks.push_back(read_block(blocks[i], next, entry.where() + indexed(".blocks", i)));
    next = next + segment.blocks.back().size;
  }
  recording_.final->push_back(std::move(segment));
}

// Older snapshots give no address of a block: it follows the one before.
RecordedBlock SnapshotReader::read_block(const Value& value, Address address, std::string where) {
  Entry entry(reading_, value, std::move(where));
  RecordedBlock block;
  block.address = entry.find("address") == nullptr ? address : Address{entry.number("address")};
  block.size = {entry.number("size")};
  if (entry.find("requested_size") != nullptr)
    block.requested = Bytes{entry.number("requested_size")};
  const std::string_view state = entry.text("state");
  if (state == "active_allocated") {
    block.state = BlockState::active_allocated;
  } else if (state == "active_pending_free") {
    block.state = BlockState::active_pending_free;
  } else if (state != "inactive") {
    entry.fail("'state' is none that is known");
  }
  return block;
}

void SnapshotReader::read_trace(const Value& value, std::size_t device) {
  const std::string where = indexed("device_traces", device);
  if (value.kind != Kind::list) return reading_.fail(where, "is not a list");
  const auto events = reading_.pickle.items(value);
  if (!events.empty() && device >= most_devices) return reading_.fail(where, "is of no device");
  for (std::size_t i = 0; i < events.size() && !reading_.error; ++i) {
    read_event(Entry(reading_, events[i], indexed(where, i)), static_cast<DeviceIndex>(device));
  }
}

void SnapshotReader::read_event(Entry entry, DeviceIndex device) {
  const std::string_view name = entry.text("action");
  if (name == "segment_map" || name == "segment_unmap") {
    return entry.fail("is of an expandable segment; these cannot be imported");
  }
  const auto action = action_from(name);
  if (!action) {  // Such as "snapshot" and "annotate", which change nothing.
    ++skipped_[name == "oom" ? "out-of-memory events" : "events of other kinds"];
    return;
  }
  RecordedEvent event{
      *action,      device, entry.number("stream"), {entry.number("addr")}, {entry.number("size")},
      entry.where()};
  if (entry.is_private("pool_id") || is_in_private_segment(event.address)) {
    ++skipped_["events in private pools"];
    return;
  }
  recording_.events.push_back(std::move(event));
}

bool SnapshotReader::is_in_private_segment(Address address) const {
  const auto above = private_segments_.upper_bound(address);
  if (above == private_segments_.begin()) return false;
  const auto& [begin, size] = *std::prev(above);
  return Span{begin, size}.contains(address);
}

}  // namespace

ImportResult<Imported> import_snapshot(std::string_view pickle, const SnapshotOptions& options) {
  const auto read = Pickle::read(pickle);
  if (!read) return Failure{read.error()};
  SnapshotReader reader(*read, pickle.size());
  if (auto error = reader.read()) return Failure{*error};
  Recording recording = reader.take_recording();
  recording.best_fit_tie = options.best_fit_tie;
  if (auto error = check_map(*recording.final, "segments")) return Failure{*error};
  auto rewound = rewind(recording);
  if (!rewound) return Failure{rewound.error()};
  recording.initial = std::move((*rewound).initial);
  if (auto error = check_map(recording.initial, "segments at the start")) return Failure{*error};
  auto imported = program_of(recording);
  if (!imported) return imported;
  ImportReport& report = (*imported).report;
  report.skipped.merge(reader.skipped());
  if (rewound->assumed_sizes > 0) {
    report.notes.push_back("of " + std::to_string(rewound->assumed_sizes) +
                           " blocks live at the start the size is assumed");
  }
  return imported;
}

}  // namespace cairn::testing
