#include "testing/import_recording.h"

#include <algorithm>
#include <unordered_map>

#include "base/in_words.h"
#include "heap/size_policy.h"
#include "simulator/address_space.h"
#include "testing/import_statements.h"
#include "testing/parser_words.h"

namespace cairn::testing {
namespace {

using namespace cairn::literals;  // NOLINT

constexpr Bytes usual_memory = 80_GiB;

// Whether the simulated machine can have memory there.
bool is_plausible(Span span) {
  using simulator::address_limit;
  return Address{0} < span.begin && span.begin < address_limit && Bytes{0} < span.size &&
         span.size <= address_limit - span.begin && is_aligned(span.begin, block_granularity) &&
         is_multiple(span.size, block_granularity);
}

bool blocks_tile(const RecordedSegment& segment) {
  Address next = segment.address;
  for (const RecordedBlock& block : segment.blocks) {
    const Span span{block.address, block.size};
    if (block.address != next || !is_plausible(span) || !segment.span().contains(span))
      return false;
    next = span.end();
  }
  return next == segment.span().end();
}

// What the segments of each device take at most at a time, as the driver counts it; no entry for a
// device that is not mentioned.
std::map<DeviceIndex, Bytes> peak_memory(const Recording& recording) {
  std::map<DeviceIndex, Bytes> peaks{{0, 0_B}};
  std::map<DeviceIndex, Bytes> held;
  const auto add = [&](DeviceIndex device, Bytes size) {
    held[device] += round_up(std::min(size, most_memory), 2_MiB);
    peaks[device] = std::max(peaks[device], held[device]);
  };
  for (const RecordedSegment& segment : recording.initial) add(segment.device, segment.size);
  for (const RecordedEvent& event : recording.events) {
    if (event.action == RecordedEvent::Action::segment_alloc) {
      add(event.device, event.size);
    } else if (event.action == RecordedEvent::Action::segment_free) {
      held[event.device] -= std::min(held[event.device], round_up(event.size, 2_MiB));
    } else {
      add(event.device, 0_B);
    }
  }
  return peaks;
}

bool has_free_neighbours(const RecordedSegment& segment) {
  const auto both_free = [](const RecordedBlock& a, const RecordedBlock& b) {
    return a.state == BlockState::inactive && b.state == BlockState::inactive;
  };
  const auto& blocks = segment.blocks;
  return std::adjacent_find(blocks.begin(), blocks.end(), both_free) != blocks.end();
}

// Writes the Program of a recording, statement by statement.
class RecordingWriter {
 public:
  explicit RecordingWriter(const Recording& recording) : recording_(recording) {}

  ImportResult<Imported> write() {
    if (auto why = declare_world()) return Failure{ImportError{"", *why}};
    for (const RecordedSegment& segment : recording_.initial) declare_segment(segment);
    for (const RecordedEvent& event : recording_.events) {
      if (auto why = play(event)) return Failure{ImportError{event.where, *why}};
    }
    end_release();
    note_unused_segments();
    if (recording_.final) expect_final(*recording_.final);
    return std::move(imported_);
  }

 private:
  using Why = std::optional<std::string>;

  struct Live {
    std::string name;
    bool from_the_start = false;
  };
  struct Segment {
    Bytes size;
    std::uint64_t live_blocks = 0;
  };
  struct Release {  // A run of segment_free events.
    std::uint64_t idle = 0;
    std::uint64_t given_back = 0;
    std::string where;
  };

  void emit(Operation operation) {
    imported_.program.statements.push_back(make_statement(std::move(operation)));
  }
  void note(std::string text) { imported_.report.notes.push_back(std::move(text)); }

  Why declare_world();
  void declare_segment(const RecordedSegment& segment);
  Why play(const RecordedEvent& event);
  Why alloc(const RecordedEvent& event);
  Why free(const RecordedEvent& event);
  Why segment_alloc(const RecordedEvent& event);
  Why segment_free(const RecordedEvent& event);
  void end_release();
  void note_unused_segments();
  void expect_final(const RecordedMap& map);
  void expect_block(const RecordedBlock& block);
  void expect_count(DeviceIndex device, std::uint64_t segments);
  std::uint64_t idle_segments() const;
  std::map<Address, Segment>::iterator segment_of(Address address);
  void select_device(DeviceIndex device);

  const Recording& recording_;
  Imported imported_;
  StreamNames streams_;
  DeviceIndex device_count_ = 1;
  DeviceIndex device_ = 0;
  std::map<Address, Segment> segments_;
  std::unordered_map<std::uint64_t, Live> live_;  // By address.
  std::map<Address, Bytes> new_segments_;         // Made by the driver, and no block yet in it.
  std::optional<Release> release_;
};

RecordingWriter::Why RecordingWriter::declare_world() {
  const std::map<DeviceIndex, Bytes> peaks = peak_memory(recording_);
  device_count_ = peaks.rbegin()->first + 1;
  for (DeviceIndex device = 0; device < device_count_; ++device) {
    const auto peak = peaks.find(device);
    const Bytes needed = peak == peaks.end() ? 0_B : peak->second;
    if (needed > most_memory) {
      return "the segments of device " + std::to_string(device) + " take more than 1 TiB";
    }
    GpuDecl gpu;
    gpu.device = device;
    gpu.memory = std::max(usual_memory, round_up(needed, 1_GiB));
    emit(gpu);
  }
  const std::string text = settings_text(recording_.settings, recording_.best_fit_tie);
  if (!text.empty()) emit(Conf{text});
  return std::nullopt;
}

std::optional<DeviceIndex> unless_first(DeviceIndex device) {
  return device == 0 ? std::nullopt : std::optional(device);
}

void RecordingWriter::declare_segment(const RecordedSegment& segment) {
  emit(SegmentDecl{segment.address, segment.size, segment.pool,
                   streams_(segment.device, segment.stream), unless_first(segment.device)});
  ++imported_.report.segments_at_start;
  Segment& held = segments_[segment.address];
  held.size = segment.size;
  for (const RecordedBlock& block : segment.blocks) {
    if (block.state == BlockState::inactive) {
      emit(BlockDecl{std::nullopt, block.size});
      continue;
    }
    std::string name = "w" + std::to_string(live_.size() + 1);
    emit(BlockDecl{name, block.size});
    live_[block.address.value] = {std::move(name), true};
    ++held.live_blocks;
  }
}

RecordingWriter::Why RecordingWriter::play(const RecordedEvent& event) {
  using Action = RecordedEvent::Action;
  ++imported_.report.entries;
  if (event.action == Action::free_requested) return std::nullopt;
  if (event.action != Action::segment_free) end_release();
  select_device(event.device);
  switch (event.action) {
    case Action::alloc:
      return alloc(event);
    case Action::free_completed:
      return free(event);
    case Action::segment_alloc:
      return segment_alloc(event);
    default:
      return segment_free(event);
  }
}

RecordingWriter::Why RecordingWriter::alloc(const RecordedEvent& event) {
  const std::string at = in_words(event.address);
  if (live_.contains(event.address.value)) return "alloc gives " + at + ", which is still live";
  if (event.size == 0_B || event.size >= request_limit) {
    return "alloc asks for " + std::to_string(event.size.count) + " bytes";
  }
  const auto segment = segment_of(event.address);
  if (segment == segments_.end()) return "alloc gives " + at + ", which is in no segment";
  if (const auto fresh = new_segments_.find(segment->first); fresh != new_segments_.end()) {
    emit(NextSegment{fresh->first});
    new_segments_.erase(fresh);
  }
  std::string name = "a" + std::to_string(++imported_.report.allocations);
  Alloc operation = make_alloc(name, event.size, streams_(event.device, event.stream));
  operation.expected = event.address;
  emit(std::move(operation));
  live_[event.address.value] = {std::move(name), false};
  ++segment->second.live_blocks;
  return std::nullopt;
}

RecordingWriter::Why RecordingWriter::free(const RecordedEvent& event) {
  const auto found = live_.find(event.address.value);
  if (found == live_.end()) return "frees " + in_words(event.address) + ", which is not live";
  emit(make_free(found->second.name));
  live_.erase(found);
  --segment_of(event.address)->second.live_blocks;
  ++imported_.report.frees;
  return std::nullopt;
}

RecordingWriter::Why RecordingWriter::segment_alloc(const RecordedEvent& event) {
  const Span span{event.address, event.size};
  const std::string text = "the segment at " + in_words(event.address);
  if (!is_plausible(span)) return text + " has no possible address and size";
  const auto above = segments_.lower_bound(span.end());
  if (above != segments_.begin()) {
    const auto& [address, below] = *std::prev(above);
    if (address + below.size > span.begin) return text + " overlaps another";
  }
  segments_[event.address] = {event.size, 0};
  new_segments_[event.address] = event.size;
  return std::nullopt;
}

RecordingWriter::Why RecordingWriter::segment_free(const RecordedEvent& event) {
  const auto found = segments_.find(event.address);
  const std::string text = "the segment at " + in_words(event.address) + " is given back, but ";
  if (found == segments_.end()) return text + "there is none";
  if (found->second.live_blocks > 0) return text + "holds live blocks";
  if (!release_) {
    release_ = Release{idle_segments(), 0, event.where};
    emit(EmptyCache{});
  }
  ++release_->given_back;
  segments_.erase(found);
  new_segments_.erase(event.address);
  return std::nullopt;
}

void RecordingWriter::end_release() {
  if (release_ && release_->given_back != release_->idle) {
    note(release_->where + ": of " + std::to_string(release_->idle) +
         " idle segments the recording " + "gives back " + std::to_string(release_->given_back) +
         ", empty_cache all; from here on the Program may differ");
  }
  release_.reset();
}

void RecordingWriter::note_unused_segments() {
  if (new_segments_.empty()) return;
  note(std::to_string(new_segments_.size()) +
       " segments were made for no allocation in the recording");
}

void RecordingWriter::expect_final(const RecordedMap& map) {
  std::map<DeviceIndex, std::uint64_t> counts{{0, 0}};
  for (const RecordedSegment& segment : map) {
    emit(ExpectSegment{segment.address, segment.size, segment.pool,
                       streams_(segment.device, segment.stream), unless_first(segment.device)});
    for (const RecordedBlock& block : segment.blocks) expect_block(block);
    ++counts[segment.device];
  }
  for (DeviceIndex device = 0; device < device_count_; ++device)
    expect_count(device, counts[device]);
}

void RecordingWriter::expect_block(const RecordedBlock& block) {
  ExpectBlock expected;
  expected.size = block.size;
  expected.state = block.state;
  if (block.state == BlockState::active_pending_free) {
    expected.state = BlockState::active_allocated;
    ++imported_.report.skipped["free_requested without free_completed"];
  }
  const auto live = live_.find(block.address.value);
  if (live != live_.end() && !live->second.from_the_start) expected.requested = block.requested;
  emit(expected);
}

void RecordingWriter::expect_count(DeviceIndex device, std::uint64_t segments) {
  Expect count;
  count.left.push_back(query_term("segments", unless_first(device)));
  count.right.push_back(number_term(segments));
  emit(std::move(count));
}

std::uint64_t RecordingWriter::idle_segments() const {
  return static_cast<std::uint64_t>(
      std::count_if(segments_.begin(), segments_.end(),
                    [](auto& entry) { return entry.second.live_blocks == 0; }));
}

std::map<Address, RecordingWriter::Segment>::iterator RecordingWriter::segment_of(Address address) {
  auto above = segments_.upper_bound(address);
  if (above == segments_.begin()) return segments_.end();
  --above;
  return Span{above->first, above->second.size}.contains(address) ? above : segments_.end();
}

void RecordingWriter::select_device(DeviceIndex device) {
  if (device != device_) emit(SetDevice{device});
  device_ = device;
}

}  // namespace

std::optional<ImportError> check_map(const RecordedMap& map, const std::string& name) {
  std::map<Address, Address> ends;
  for (std::size_t i = 0; i < map.size(); ++i) {
    const RecordedSegment& segment = map[i];
    const std::string where = name + "[" + std::to_string(i) + "]";
    const std::string text = "the segment at " + in_words(segment.address);
    if (!is_plausible(segment.span())) {
      return ImportError{where, text + " has no possible address and size"};
    }
    if (segment.device < 0 || segment.device >= most_devices) {
      return ImportError{where, text + " is of device " + std::to_string(segment.device)};
    }
    const auto next = ends.lower_bound(segment.address);
    const bool hits_next = next != ends.end() && next->first < segment.span().end();
    const bool hits_last = next != ends.begin() && std::prev(next)->second > segment.address;
    if (hits_next || hits_last) return ImportError{where, text + " overlaps another"};
    ends[segment.address] = segment.span().end();
    if (!blocks_tile(segment)) return ImportError{where, text + " is not the sum of its blocks"};
    if (has_free_neighbours(segment)) {
      return ImportError{where, text + " has two free blocks side by side"};
    }
  }
  return std::nullopt;
}

std::string StreamNames::operator()(DeviceIndex device, std::uint64_t handle) {
  if (handle == 0) return "s0";
  std::string& name = names_[{device, handle}];
  if (name.empty()) name = "s" + std::to_string(names_.size());
  return name;
}

std::optional<RecordedEvent::Action> action_from(std::string_view name) {
  using Action = RecordedEvent::Action;
  static constexpr auto words = std::to_array<Spelling<Action>>({
      {"alloc", Action::alloc},
      {"free_requested", Action::free_requested},
      {"free_completed", Action::free_completed},
      {"segment_alloc", Action::segment_alloc},
      {"segment_free", Action::segment_free},
  });
  return meaning(words, name);
}

ImportResult<Imported> program_of(const Recording& recording) {
  return RecordingWriter(recording).write();
}

}  // namespace cairn::testing
