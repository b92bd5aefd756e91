// The door: what is refused before any device is asked, and the choice of the device.
#include "invariants/model/model.h"

#include <cstddef>

#include "invariants/model/device_model.h"

namespace cairn::model {
namespace {

constexpr Bytes refused_from{std::uint64_t{1} << 60};
constexpr Bytes largest_alignment{std::uint64_t{2} << 20};

// 1, 2, 4 ... 2 MiB.
bool is_alignment(Bytes alignment) {
  for (Bytes power{1}; power <= largest_alignment; power += power) {
    if (power == alignment) return true;
  }
  return false;
}

}  // namespace

class Model::Impl {
 public:
  Impl(const Options& options, int device_count, Environment& environment) {
    for (DeviceIndex device = 0; device < device_count; ++device) {
      devices_.emplace_back(options, device, environment);
    }
  }

  DeviceModel& device(DeviceIndex index) { return devices_[static_cast<std::size_t>(index)]; }

  Outcome allocate(const Request& request) {
    const bool device_exists =
        request.device >= 0 && static_cast<std::size_t>(request.device) < devices_.size();
    if (!device_exists || !is_alignment(request.alignment)) {
      return {ErrorCode::invalid_argument, {}};
    }
    if (request.size >= refused_from) return {ErrorCode::out_of_memory, {}};
    if (request.size == Bytes{0}) return {};
    return device(request.device).allocate(request);
  }

  ErrorCode free(Address address, std::optional<Bytes> size, std::optional<StreamId> stream) {
    if (address == Address{0}) return ErrorCode::none;
    for (DeviceModel& each : devices_) {
      const auto place = each.live_block(address);
      if (!place) continue;
      const Bytes requested_size = each.memory().block(*place).requested_size;
      const StreamId block_stream = each.memory().segment(*place).stream;
      if (size.value_or(requested_size) != requested_size) return ErrorCode::invalid_argument;
      if (stream.value_or(block_stream) != block_stream) return ErrorCode::invalid_argument;
      each.free(*place);
      return ErrorCode::none;
    }
    return ErrorCode::invalid_argument;
  }

  ErrorCode empty_cache() {
    for (DeviceModel& each : devices_) {
      if (const ErrorCode code = each.empty_cache(); code != ErrorCode::none) return code;
    }
    return ErrorCode::none;
  }

  void reset_peak_stats() {
    for (DeviceModel& each : devices_) each.reset_peak_stats();
  }
  void reset_accumulated_stats() {
    for (DeviceModel& each : devices_) each.reset_accumulated_stats();
  }

 private:
  std::vector<DeviceModel> devices_;
};

Model::Model(const Options& options, int device_count, Environment& environment)
    : impl_(std::make_unique<Impl>(options, device_count, environment)) {}
Model::~Model() = default;

void Model::add_initial_segment(const InitialSegment& segment) {
  impl_->device(segment.device).add_initial_segment(segment);
}

Outcome Model::allocate(const Request& request) { return impl_->allocate(request); }
ErrorCode Model::free(Address address, std::optional<Bytes> size, std::optional<StreamId> stream) {
  return impl_->free(address, size, stream);
}
ErrorCode Model::empty_cache() { return impl_->empty_cache(); }

BlockMap Model::map(DeviceIndex device) const { return impl_->device(device).map(); }
DeviceStats Model::stats(DeviceIndex device) const { return impl_->device(device).stats(); }
void Model::reset_peak_stats() { impl_->reset_peak_stats(); }
void Model::reset_accumulated_stats() { impl_->reset_accumulated_stats(); }

}  // namespace cairn::model
