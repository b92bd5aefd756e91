#include "allocator/all_devices.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "allocator/error_text.h"
#include "invariants/catalogue/hook.h"

namespace cairn {
namespace {

constexpr Bytes largest_alignment{std::uint64_t{2} << 20};

std::uint64_t handle_of(Stream stream) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(stream));
}

StreamRef stream_of(const Request& request) { return {request.device, handle_of(request.stream)}; }

// A setting that would change and cannot; empty where there is none.
std::string unchangeable(const Options& now, Options wanted) {
  if (wanted.best_fit_tie != now.best_fit_tie) return "best_fit_tie";
  if (wanted.stream_identity != now.stream_identity) return "stream_identity";
  if (wanted.pytorch_defects != now.pytorch_defects) return "pytorch_defects";
  wanted.max_split_size_bytes = now.max_split_size_bytes;
  wanted.max_non_split_rounding_bytes = now.max_non_split_rounding_bytes;
  wanted.large_segment_size_bytes = now.large_segment_size_bytes;
  wanted.garbage_collection_threshold = now.garbage_collection_threshold;
  wanted.roundup_power2_divisions = now.roundup_power2_divisions;
  wanted.release_lock_on_cudamalloc = now.release_lock_on_cudamalloc;
  wanted.throw_on_cudamalloc_oom = now.throw_on_cudamalloc_oom;
  wanted.per_process_memory_fraction = now.per_process_memory_fraction;
  return wanted == now ? "" : "that is neither of memory pressure nor of sizes";
}

}  // namespace

std::string unsupported_setting_in(const Options& options) {
  if (options.backend != Backend::native) return "backend:cudaMallocAsync";
  if (options.expandable_segments) return "expandable_segments:True";
  if (options.pytorch_defects && options.stream_identity != StreamIdentity::handle) {
    return "stream_identity:id with pytorch_defects:True";  // There a stream is its handle.
  }
  return {};
}

AllDevices::AllDevices(Driver& driver, const Options& options)
    : streams_(driver, options), options_(options), deviations_(options) {
  for (DeviceIndex device = 0; device < driver.device_count(); ++device) {
    devices_.push_back(
        std::make_unique<DeviceAllocator>(device, options, Shared{driver, streams_, callbacks_}));
  }
}

bool AllDevices::is_plain(const Request& request) const {
  const Bytes requested{request.size_bytes};
  return requested != Bytes{0} && requested < request_limit &&
         request.alignment_bytes == block_granularity.count &&
         streams_.is_plain(stream_of(request));
}

Address AllDevices::hit(const Request& request) {
  DeviceAllocator* device = find_device(request.device);
  if (device == nullptr || !is_plain(request)) [[unlikely]]
    return {};
  return device->hit(StreamDirectory::plain(stream_of(request)), Bytes{request.size_bytes});
}

bool AllDevices::free_unused(Address address) {
  for (const auto& device : devices_) {
    if (device->free_unused(address)) return true;
  }
  return false;
}

Result<Address, Error> AllDevices::miss(const Request& request) {
  DeviceAllocator* device = find_device(request.device);
  if (device == nullptr) {
    CAIRN_PROBE("allocate.no_such_device");
    return Failure{no_such_device(request.device, device_count())};
  }
  const Bytes alignment{request.alignment_bytes};
  if (!is_power_of_two(alignment) || alignment > largest_alignment) {
    CAIRN_PROBE("allocate.bad_alignment");
    return Failure{bad_alignment(alignment)};
  }
  const Bytes requested{request.size_bytes};
  if (requested >= request_limit) {
    CAIRN_PROBE("allocate.larger_than_possible");
    return Failure{larger_than_possible(requested)};
  }
  if (requested == Bytes{0}) return Address{};
  const auto stream = identify(stream_of(request));
  if (!stream) {
    CAIRN_PROBE("allocate.stream_not_identified");
    return Failure{stream.error()};
  }
  const HeapRequest wanted{*stream, requested, std::max(alignment, block_granularity)};
  if (!is_plain(request)) {  // Then hit() has not asked the device.
    const Address served = device->hit(wanted.stream, wanted.requested, wanted.alignment);
    if (served != Address{}) return served;
  }
  return device->allocate(wanted);
}

template <class Act>
Result<Done, Error> AllDevices::at_device_of(Address address, Act&& act) {
  if (address == Address{}) return Done{};
  for (const auto& device : devices_) {
    const auto acted = act(*device);
    if (!acted) {
      CAIRN_PROBE("at_device.not_done");
      return Failure{acted.error()};
    }
    if (*acted) return Done{};
  }
  CAIRN_PROBE("at_device.foreign_pointer");
  return Failure{foreign_pointer(address)};
}

Result<DeviceIndex, Error> AllDevices::holder(Address address) {
  for (DeviceIndex index = 0; index < device_count(); ++index) {
    const auto holds = device(index).holds(address);
    if (!holds) {
      CAIRN_PROBE("holder.not_live");
      return Failure{holds.error()};
    }
    if (*holds) return index;
  }
  CAIRN_PROBE("holder.foreign_pointer");
  return Failure{foreign_pointer(address)};
}

Result<StreamId, Error> AllDevices::identify(StreamRef stream) {
  if (!streams_.asks_driver(stream)) return streams_.identify(stream);
  DeviceAllocator& asked = device(stream.device);
  if (const auto lost = asked.lost()) {
    CAIRN_PROBE("identify.lost");
    if (const auto known = streams_.last_known(stream)) return *known;
    CAIRN_PROBE("identify.lost_and_unknown");
    return Failure{*lost};
  }
  auto id = streams_.identify(stream);
  if (!id) {
    CAIRN_PROBE("identify.not_told");
    asked.note_failure(static_cast<CudaStatus>(id.error().cuda_code));
  }
  return id;
}

Result<Done, Error> AllDevices::free_any(Address address, const FreeCheck* check) {
  if (check != nullptr && address != Address{}) return free_checked(address, *check);
  return at_device_of(address, [&](auto& device) { return device.free(address, nullptr); });
}

Result<Done, Error> AllDevices::free_checked(Address address, const FreeCheck& check) {
  const auto stream = user(address, check.stream, Allocator::block_device);
  if (!stream) {
    CAIRN_PROBE("free_checked.stream_not_identified");
    return Failure{stream.error()};
  }
  const BlockCheck expected{check.size, stream->id};
  return at_device_of(address, [&](auto& device) { return device.free(address, &expected); });
}

Result<UserStream, Error> AllDevices::user(Address address, Stream stream, int device) {
  const bool is_of_block = device == Allocator::block_device;
  if (!is_of_block && find_device(device) == nullptr) {
    CAIRN_PROBE("user.no_such_device");
    return Failure{no_such_device(device, device_count())};
  }
  StreamRef ref{is_of_block ? 0 : device, handle_of(stream)};
  if (is_of_block && streams_.asks_driver(ref)) {
    const auto found = holder(address);
    if (!found) {
      CAIRN_PROBE("user.holder_not_found");
      return Failure{found.error()};
    }
    ref.device = *found;
  }
  const auto id = identify(ref);
  if (!id) {
    CAIRN_PROBE("user.stream_not_identified");
    return Failure{id.error()};
  }
  return UserStream{*id, is_of_block ? std::nullopt : std::optional(device)};
}

Result<Done, Error> AllDevices::record_stream(Address address, Stream stream, int device) {
  if (address == Address{}) return Done{};
  const auto named = user(address, stream, device);
  if (!named) {
    CAIRN_PROBE("record_stream.stream_not_identified");
    return Failure{named.error()};
  }
  auto recorded =
      at_device_of(address, [&](auto& each) { return each.record_stream(address, *named); });
  if (!recorded && !deviations_.refuses_use_of_what_is_not_live) {
    CAIRN_PROBE("record_stream.not_live_passed_over");
    return Done{};
  }
  return recorded;
}

Result<Done, Error> AllDevices::free_on(Address address, Stream stream, int device) {
  if (address == Address{}) return Done{};
  const auto named = user(address, stream, device);
  if (!named) {
    CAIRN_PROBE("free_on.stream_not_identified");
    return Failure{named.error()};
  }
  return at_device_of(address, [&](auto& each) { return each.free_on(address, *named); });
}

Result<Done, Error> AllDevices::forget_stream(DeviceIndex device, Stream stream) {
  if (find_device(device) == nullptr) {
    CAIRN_PROBE("forget_stream.no_such_device");
    return Failure{no_such_device(device, device_count())};
  }
  const StreamRef ref{device, handle_of(stream)};
  const auto id = identify(ref);
  if (!id) {
    CAIRN_PROBE("forget_stream.stream_not_identified");
    return Failure{id.error()};
  }
  if (ref.handle <= per_thread_stream_handle) {
    CAIRN_PROBE("forget_stream.default_stream");
    return Failure{default_stream_does_not_end(*id)};
  }
  if (!deviations_.tells_equal_handles_apart) return Done{};
  for (const auto& each : devices_) {
    auto forgotten = each->forget_stream({device, *id});
    if (!forgotten) {
      CAIRN_PROBE("forget_stream.not_done");
      return forgotten;
    }
  }
  streams_.forget(ref);
  return Done{};
}

Result<Done, Error> AllDevices::process_events(DeviceIndex device) {
  DeviceAllocator* found = find_device(device);
  if (found == nullptr) {
    CAIRN_PROBE("process_events.no_such_device");
    return Failure{no_such_device(device, device_count())};
  }
  return found->process_events();
}

Result<Done, Error> AllDevices::empty_cache() {
  for (const auto& device : devices_) {
    auto released = device->empty_cache();
    if (!released) {
      CAIRN_PROBE("empty_cache.not_done");
      return released;
    }
  }
  return Done{};
}

Result<Done, Error> AllDevices::set_memory_fraction(DeviceIndex device, double fraction) {
  DeviceAllocator* found = find_device(device);
  if (found == nullptr) {
    CAIRN_PROBE("set_memory_fraction.no_such_device");
    return Failure{no_such_device(device, device_count())};
  }
  if (!(fraction >= 0.0 && fraction <= 1.0)) {
    CAIRN_PROBE("set_memory_fraction.bad_fraction");
    return Failure{bad_fraction(fraction)};
  }
  found->set_memory_fraction(fraction);
  return Done{};
}

Result<Done, Error> AllDevices::reconfigure(std::string_view text) {
  const auto options = options_.lock();
  ParsedSettings parsed = parse_settings(text, *options);
  if (!parsed.ok) {
    CAIRN_PROBE("reconfigure.unreadable");
    return Failure{Error{ErrorCode::invalid_argument, 0, std::move(parsed.error.message)}};
  }
  const std::string unsupported = unsupported_setting_in(parsed.options);
  if (!unsupported.empty()) {
    CAIRN_PROBE("reconfigure.unsupported");
    return Failure{unsupported_setting(unsupported)};
  }
  const std::string fixed = unchangeable(*options, parsed.options);
  if (!fixed.empty()) {
    CAIRN_PROBE("reconfigure.unchangeable");
    return Failure{unchangeable_setting(fixed)};
  }
  for (const auto& device : devices_) device->reconfigure(parsed.options);
  *options = std::move(parsed.options);
  return Done{};
}

DeviceAllocator* AllDevices::find_device(DeviceIndex index) {
  return 0 <= index && index < device_count() ? &device(index) : nullptr;
}

}  // namespace cairn
