// The door: what is refused before any device is asked, and the choice of the device.
#include "invariants/model/model.h"

#include <cstddef>

#include "invariants/model/cuda_codes.h"
#include "invariants/model/device_model.h"
#include "invariants/model/policy.h"
#include "invariants/model/streams.h"

namespace cairn::model {
namespace {

constexpr Bytes refused_from{std::uint64_t{1} << 60};
constexpr Bytes largest_alignment{std::uint64_t{2} << 20};
constexpr std::uint64_t last_default_handle = 2;  // 0 and 1: legacy; 2: per thread.

// 1, 2, 4 ... 2 MiB.
bool is_alignment(Bytes alignment) {
  for (Bytes power{1}; power <= largest_alignment; power += power) {
    if (power == alignment) return true;
  }
  return false;
}

// `now`, but with those settings of `wanted` that may change while the allocator works.
Options with_changes(const Options& now, const Options& wanted) {
  Options changed = now;
  changed.garbage_collection_threshold = wanted.garbage_collection_threshold;
  changed.roundup_power2_divisions = wanted.roundup_power2_divisions;
  changed.max_split_size_bytes = wanted.max_split_size_bytes;
  changed.max_non_split_rounding_bytes = wanted.max_non_split_rounding_bytes;
  changed.large_segment_size_bytes = wanted.large_segment_size_bytes;
  changed.release_lock_on_cudamalloc = wanted.release_lock_on_cudamalloc;
  changed.throw_on_cudamalloc_oom = wanted.throw_on_cudamalloc_oom;
  changed.per_process_memory_fraction = wanted.per_process_memory_fraction;
  return changed;
}

}  // namespace

class Model::Impl {
 public:
  Impl(const Options& options, const std::vector<Bytes>& total_memory, Environment& environment)
      : options_(options), policy_(options), streams_(options, environment) {
    for (const Bytes total : total_memory) {
      const auto device = static_cast<DeviceIndex>(devices_.size());
      devices_.emplace_back(device, total, Surroundings{options_, streams_, environment});
    }
  }

  // REQUIRES: it exists.
  DeviceModel& device(DeviceIndex index) { return devices_[static_cast<std::size_t>(index)]; }
  std::vector<DeviceModel>& devices() { return devices_; }
  const Options& options() const { return options_; }

  Outcome allocate(const Request& request);
  ErrorCode free(Address address, std::optional<Bytes> size, std::optional<std::uint64_t> handle);
  ErrorCode record_stream(Address address, StreamName stream);
  ErrorCode free_on(Address address, StreamName stream);
  ErrorCode forget_stream(StreamName stream);
  ErrorCode process_events(DeviceIndex index);
  ErrorCode set_memory_fraction(DeviceIndex index, double fraction);
  ErrorCode reconfigure(const std::optional<Options>& wanted);
  ErrorCode empty_cache();

  // Where a live block is: nothing if the address is not the start of one.
  struct Found {
    DeviceIndex device = 0;
    Place place;
  };
  std::optional<Found> find(Address address) const;
  const Memory& memory(const Found& found) const {
    return devices_[static_cast<std::size_t>(found.device)].memory();
  }

 private:
  bool exists(DeviceIndex device) const {
    return device >= 0 && static_cast<std::size_t>(device) < devices_.size();
  }
  Streams::Named name(StreamName stream);

  Options options_;
  const Policy policy_;
  Streams streams_;
  std::vector<DeviceModel> devices_;
};

// The last of the checks at the door, since it may ask the driver.
Streams::Named Model::Impl::name(StreamName stream) {
  if (!exists(stream.device)) return {ErrorCode::invalid_argument, success, {}};
  const Streams::Named named = streams_.name(stream, device(stream.device).is_lost());
  device(stream.device).noted(named.cuda_code);
  return named;
}

std::optional<Model::Impl::Found> Model::Impl::find(Address address) const {
  for (std::size_t index = 0; index < devices_.size(); ++index) {
    const auto place = devices_[index].memory().live_block(address);
    if (place) return Found{static_cast<DeviceIndex>(index), *place};
  }
  return std::nullopt;
}

Outcome Model::Impl::allocate(const Request& request) {
  if (!exists(request.device) || !is_alignment(request.alignment)) {
    return failed(ErrorCode::invalid_argument);
  }
  if (request.size >= refused_from) return failed(ErrorCode::out_of_memory);
  if (request.size == Bytes{0}) return {};
  const Streams::Named named = name({request.device, request.stream});
  if (named.code != ErrorCode::none) return failed(named.code);
  return device(request.device).allocate(request, named.key.id);
}

// Which device the stream is of, only the block says.
ErrorCode Model::Impl::free(Address address, std::optional<Bytes> size,
                            std::optional<std::uint64_t> handle) {
  if (address == Address{0}) return ErrorCode::none;
  const auto found = find(address);
  if (!found) return ErrorCode::invalid_argument;
  const Memory& there = memory(*found);
  if (handle) {
    const Streams::Named named = name({found->device, *handle});
    if (named.code != ErrorCode::none) return named.code;
    if (named.key.id != there.segment(found->place).stream) return ErrorCode::invalid_argument;
  }
  if (size && *size != there.block(found->place).requested_size) {
    return ErrorCode::invalid_argument;
  }
  return device(found->device).free(found->place, {});
}

ErrorCode Model::Impl::record_stream(Address address, StreamName stream) {
  if (address == Address{0}) return ErrorCode::none;
  const Streams::Named named = name(stream);
  if (named.code != ErrorCode::none) return named.code;
  const auto found = find(address);
  if (!found) {
    const bool is_refused = policy_.refuses_uses_of_what_is_not_live();
    return is_refused ? ErrorCode::invalid_argument : ErrorCode::none;
  }
  device(found->device).record_use(found->place, named.key);
  return ErrorCode::none;
}

ErrorCode Model::Impl::free_on(Address address, StreamName stream) {
  if (address == Address{0}) return ErrorCode::none;
  const Streams::Named named = name(stream);
  if (named.code != ErrorCode::none) return named.code;
  const auto found = find(address);
  if (!found) return ErrorCode::invalid_argument;
  return device(found->device).free(found->place, named.key);
}

ErrorCode Model::Impl::forget_stream(StreamName stream) {
  if (stream.handle <= last_default_handle) return ErrorCode::invalid_argument;
  const Streams::Named named = name(stream);
  if (named.code != ErrorCode::none) return named.code;
  if (!policy_.streams_end()) return ErrorCode::none;
  for (DeviceModel& each : devices_) {
    if (const ErrorCode code = each.forget(named.key); code != ErrorCode::none) return code;
  }
  streams_.forget(stream);
  return ErrorCode::none;
}

ErrorCode Model::Impl::process_events(DeviceIndex index) {
  return exists(index) ? device(index).process_events() : ErrorCode::invalid_argument;
}

ErrorCode Model::Impl::set_memory_fraction(DeviceIndex index, double fraction) {
  const bool is_fraction = fraction >= 0.0 && fraction <= 1.0;
  if (!exists(index) || !is_fraction) return ErrorCode::invalid_argument;
  device(index).set_memory_fraction(fraction);
  return ErrorCode::none;
}

ErrorCode Model::Impl::reconfigure(const std::optional<Options>& wanted) {
  if (!wanted) return ErrorCode::invalid_argument;
  if (with_changes(options_, *wanted) != *wanted) return ErrorCode::unsupported;
  const bool recount = wanted->max_split_size_bytes != options_.max_split_size_bytes;
  options_ = *wanted;
  if (!recount) return ErrorCode::none;
  for (DeviceModel& each : devices_) each.max_split_size_changed();
  return ErrorCode::none;
}

ErrorCode Model::Impl::empty_cache() {
  for (DeviceModel& each : devices_) {
    if (const ErrorCode code = each.empty_cache(); code != ErrorCode::none) return code;
  }
  return ErrorCode::none;
}

Model::Model(const Options& options, const std::vector<Bytes>& total_memory,
             Environment& environment)
    : impl_(std::make_unique<Impl>(options, total_memory, environment)) {}
Model::~Model() = default;

void Model::add_initial_segment(const InitialSegment& segment) {
  impl_->device(segment.device).add_initial_segment(segment);
}

Outcome Model::allocate(const Request& request) { return impl_->allocate(request); }
ErrorCode Model::free(Address address, std::optional<Bytes> size,
                      std::optional<std::uint64_t> stream) {
  return impl_->free(address, size, stream);
}
ErrorCode Model::empty_cache() { return impl_->empty_cache(); }
ErrorCode Model::record_stream(Address address, StreamName stream) {
  return impl_->record_stream(address, stream);
}
ErrorCode Model::free_on(Address address, StreamName stream) {
  return impl_->free_on(address, stream);
}
ErrorCode Model::forget_stream(StreamName stream) { return impl_->forget_stream(stream); }
ErrorCode Model::process_events(DeviceIndex device) { return impl_->process_events(device); }
ErrorCode Model::set_memory_fraction(DeviceIndex device, double fraction) {
  return impl_->set_memory_fraction(device, fraction);
}
ErrorCode Model::reconfigure(const std::optional<Options>& wanted) {
  return impl_->reconfigure(wanted);
}
const Options& Model::options() const { return impl_->options(); }

std::vector<StreamKey> Model::uses(Address address) const {
  const auto found = impl_->find(address);
  if (!found) return {};
  return impl_->memory(*found).block(found->place).uses;
}

BlockMap Model::map(DeviceIndex device) const { return impl_->device(device).map(); }
const DeviceStats& Model::stats(DeviceIndex device) const { return impl_->device(device).stats(); }
void Model::reset_peak_stats() {
  for (DeviceModel& each : impl_->devices()) each.reset_peak_stats();
}
void Model::reset_accumulated_stats() {
  for (DeviceModel& each : impl_->devices()) each.reset_accumulated_stats();
}

}  // namespace cairn::model
