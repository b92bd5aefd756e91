#include "tool/replay_machine.h"

#include <algorithm>

#include "allocator/all_devices.h"
#include "driver/recording_driver.h"
#include "simulator/simulated_driver.h"
#include "testing/printer.h"
#include "tool/recorder.h"

namespace cairn::tool {
namespace {

Stream as_stream(std::uint64_t handle) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA's handles are such pointers.
  return reinterpret_cast<Stream>(static_cast<std::uintptr_t>(handle));
}

class ReplayMachine {
 public:
  explicit ReplayMachine(const ReplayPlan& plan)
      : plan_(plan),
        gpu_(plan.devices),
        below_(gpu_),
        driver_(below_),
        devices_(driver_, plan.options),
        streams_(plan.streams.size()),
        addresses_(plan.slot_names.size()) {
    for (std::size_t i = 1; i < streams_.size(); ++i) {
      simulator::StreamOptions options;
      options.device = plan.streams[i];
      streams_[i] = *gpu_.make_stream(options);
    }
  }

  Result<ReplayFigures, ReplayRefusal> run() {
    if (!adopt_all()) return Failure{refusal_};
    const auto start = std::chrono::steady_clock::now();
    for (const ReplayOperation& operation : plan_.operations) {
      if (!carry_out(operation)) return Failure{refusal_};
    }
    figures_.time = std::chrono::steady_clock::now() - start;
    if (!has_no_mistakes()) return Failure{refusal_};
    read_figures();
    return figures_;
  }

  Result<Recording, ReplayRefusal> record() {
    if (!adopt_all()) return Failure{refusal_};
    Recorder recorder(devices_, plan_.operations.size());
    recorder.note({}, driver_.take_record());
    for (const ReplayOperation& operation : plan_.operations) {
      if (!carry_out(operation)) return Failure{refusal_};
      recorder.note(address_of(operation), driver_.take_record());
    }
    if (!has_no_mistakes()) return Failure{refusal_};
    Recording recording = recorder.take();
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      recording.stream_ids.push_back(id(i).value);
    }
    return recording;
  }

 private:
  bool refuse(ExitCode code, int line, std::string why) {
    refusal_ = {code, line, std::move(why)};
    return false;
  }

  bool has_no_mistakes() {
    const auto mistakes = gpu_.mistakes();
    return mistakes.empty() || refuse(ExitCode::bad_input, 0, mistakes.front());
  }

  // Of the block that the operation was about; 0 where there is none.
  Address address_of(const ReplayOperation& operation) const {
    const bool has_block = operation.kind == ReplayOperation::Kind::alloc ||
                           operation.kind == ReplayOperation::Kind::free;
    return has_block ? addresses_[operation.slot] : Address{};
  }

  bool adopt_all() {
    return std::all_of(plan_.segments.begin(), plan_.segments.end(),
                       [this](const ReplaySegment& segment) { return adopt(segment); });
  }

  bool adopt(const ReplaySegment& segment) {
    const auto placed = gpu_.place(segment.device, segment.layout.span);
    if (!placed) return refuse(ExitCode::bad_input, 0, placed.error());
    SegmentLayout layout = segment.layout;
    layout.stream = id(segment.stream);
    devices_.device(segment.device).adopt_segment(layout);
    Address next = segment.layout.span.begin;
    std::size_t live = 0;
    for (const BlockLayout& block : segment.layout.blocks) {
      if (block.allocated) addresses_[segment.slots[live++]] = next;
      next = next + block.size;
    }
    return true;
  }

  // Which stream it is to the allocator.
  StreamId id(std::size_t stream) {
    const bool by_handle = plan_.options.stream_identity == StreamIdentity::handle;
    if (stream == 0 || by_handle) return {streams_[stream].handle};
    return {*gpu_.stream_id(streams_[stream])};
  }

  bool carry_out(const ReplayOperation& operation) {
    switch (operation.kind) {
      case ReplayOperation::Kind::alloc:
        return alloc(operation);
      case ReplayOperation::Kind::free:
        return free(operation);
      case ReplayOperation::Kind::use:
        return use(operation);
      case ReplayOperation::Kind::next_segment:
        return next_segment(operation);
      default:
        return empty_cache(operation);
    }
  }

  bool alloc(const ReplayOperation& operation) {
    ++figures_.allocations;
    const auto address = devices_.allocate({operation.size.count, operation.device,
                                            as_stream(streams_[operation.stream].handle),
                                            operation.alignment.count});
    if (operation.must_fail != address.failed()) {
      return refuse(ExitCode::violated, operation.line,
                    address ? "this had to fail: out of memory" : address.error().message);
    }
    if (!address) return true;
    addresses_[operation.slot] = *address;
    if (operation.address == Address{} || operation.address == *address) return true;
    return refuse(ExitCode::violated, operation.line,
                  "expected " + testing::print_address(operation.address) + ", found " +
                      testing::print_address(*address));
  }

  bool free(const ReplayOperation& operation) {
    ++figures_.frees;
    const Address address = addresses_[operation.slot];
    if (address == Address{}) return true;  // 0 bytes were asked for.
    const FreeCheck check{operation.size, as_stream(streams_[operation.stream].handle)};
    const auto freed = devices_.free(address, operation.is_checked ? &check : nullptr);
    return freed || refuse(ExitCode::violated, operation.line, freed.error().message);
  }

  bool use(const ReplayOperation& operation) {
    const Address address = addresses_[operation.slot];
    if (address == Address{}) return true;  // 0 bytes were asked for.
    const auto used = devices_.record_stream(address, as_stream(streams_[operation.stream].handle),
                                             operation.device);
    return used || refuse(ExitCode::violated, operation.line, used.error().message);
  }

  bool next_segment(const ReplayOperation& operation) {
    const auto set = gpu_.set_next_address(operation.device, operation.address);
    return set || refuse(ExitCode::bad_input, operation.line, set.error());
  }

  bool empty_cache(const ReplayOperation& operation) {
    const auto emptied = devices_.empty_cache();
    return emptied || refuse(ExitCode::violated, operation.line, emptied.error().message);
  }

  void read_figures() {
    for (DeviceIndex device = 0; device < devices_.device_count(); ++device) {
      const DeviceStats stats = devices_.device(device).stats();
      figures_.peak_allocated += static_cast<std::uint64_t>(stats.allocated_bytes.all.peak);
      figures_.peak_reserved += static_cast<std::uint64_t>(stats.reserved_bytes.all.peak);
      for (const SegmentInfo& segment : devices_.device(device).map()) add_free_blocks(segment);
    }
    for (int i = 0; i < driver_call_count; ++i) {
      figures_.calls[static_cast<std::size_t>(i)] = driver_.calls(static_cast<DriverCall>(i));
    }
  }

  void add_free_blocks(const SegmentInfo& segment) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::inactive) continue;
      figures_.total_free += block.size_bytes;
      figures_.largest_free = std::max(figures_.largest_free, block.size_bytes);
    }
  }

  const ReplayPlan& plan_;
  simulator::SimulatedGpu gpu_;
  simulator::SimulatedDriver below_;
  RecordingDriver driver_;
  AllDevices devices_;
  std::vector<StreamRef> streams_;  // By their place in the plan.
  std::vector<Address> addresses_;  // By slot.
  ReplayFigures figures_;
  ReplayRefusal refusal_;
};

}  // namespace

Result<ReplayFigures, ReplayRefusal> replay(const ReplayPlan& plan) {
  return ReplayMachine(plan).run();
}

Result<Recording, ReplayRefusal> record(const ReplayPlan& plan) {
  return ReplayMachine(plan).record();
}

}  // namespace cairn::tool
