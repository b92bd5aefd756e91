#include "watch.h"

#include <algorithm>

#include "invariants/catalogue/hook.h"
#include "testing/documented_errors.h"

namespace cairn::faults {
namespace {

// The place in the allocator: of a member that the allocator calls, so that it must not be inlined.
#define CAIRN_SITE __builtin_return_address(0)

void add_left(std::vector<std::string>& words, const Watched& watched, const Watched::Out& out,
              const char* what) {
  for (const auto& [key, has_failed] : out) {
    if (has_failed || watched.may_be_lost(key.first)) continue;
    words.push_back(std::string(what) + " " + std::to_string(key.second) + " of device " +
                    std::to_string(key.first) + " never went back");
  }
}

bool gives_back(DriverCall call) {
  return call == DriverCall::free || call == DriverCall::event_destroy ||
         call == DriverCall::mem_info;
}

}  // namespace

std::vector<std::string> Watched::left_over() const {
  std::vector<std::string> words;
  add_left(words, *this, memory, "the segment at");
  add_left(words, *this, events, "event");
  return words;
}

bool Watched::has_failed_wait() const {
  return std::ranges::any_of(calls, [](const WatchedCall& each) {
    return each.status != CudaStatus::success && !gives_back(each.call);
  });
}

bool Watch::is_own(DriverCall call) const {
  return watched_.is_one_device || call == DriverCall::malloc || call == DriverCall::free ||
         call == DriverCall::mem_info;
}

void Watch::begin(DriverCall call, DeviceIndex device) {
  if (!watched_.lost.contains(device) || !is_own(call)) return;
  watched_.wrong.push_back(std::string(to_string(call)) + " of device " + std::to_string(device) +
                           ", which is lost");
}

template <class T>
DriverResult<T> Watch::watched(WatchedCall call, DriverResult<T> result) {
  const invariants::Checking never_out_of_host_memory;
  if (!result) call.status = result.error();
  if (testing::loses_device(call.status)) {
    watched_.is_any_lost = true;
    if (is_own(call.call)) watched_.lost.insert(call.device);
  }
  watched_.calls.push_back(call);
  return result;
}

DriverResult<Address> Watch::malloc(DeviceIndex device, Bytes size) {
  begin(DriverCall::malloc, device);
  auto result = watched({DriverCall::malloc, device, {}, CAIRN_SITE}, below_.malloc(device, size));
  const invariants::Checking never_out_of_host_memory;
  if (result) watched_.memory[{device, result->value}] = false;
  return result;
}

DriverResult<Done> Watch::free(DeviceIndex device, Address address) {
  begin(DriverCall::free, device);
  auto result = watched({DriverCall::free, device, {}, CAIRN_SITE}, below_.free(device, address));
  if (result) {
    watched_.memory.erase({device, address.value});
  } else {
    watched_.memory[{device, address.value}] = true;
  }
  return result;
}

DriverResult<MemoryInfo> Watch::mem_info(DeviceIndex device) {
  begin(DriverCall::mem_info, device);
  return watched({DriverCall::mem_info, device, {}, CAIRN_SITE}, below_.mem_info(device));
}

DriverResult<EventHandle> Watch::event_create(DeviceIndex device, ContextHandle context) {
  begin(DriverCall::event_create, device);
  auto result = watched({DriverCall::event_create, device, {}, CAIRN_SITE},
                        below_.event_create(device, context));
  if (result) watched_.events[{device, result->value}] = false;
  return result;
}

DriverResult<Done> Watch::event_record(StreamRef stream, EventHandle event) {
  begin(DriverCall::event_record, stream.device);
  return watched({DriverCall::event_record, stream.device, {}, CAIRN_SITE},
                 below_.event_record(stream, event));
}

DriverResult<bool> Watch::event_query(DeviceIndex device, EventHandle event) {
  begin(DriverCall::event_query, device);
  return watched({DriverCall::event_query, device, {}, CAIRN_SITE},
                 below_.event_query(device, event));
}

DriverResult<Done> Watch::event_sync(DeviceIndex device, EventHandle event) {
  begin(DriverCall::event_sync, device);
  return watched({DriverCall::event_sync, device, {}, CAIRN_SITE},
                 below_.event_sync(device, event));
}

DriverResult<Done> Watch::event_destroy(DeviceIndex device, EventHandle event) {
  begin(DriverCall::event_destroy, device);
  auto result = watched({DriverCall::event_destroy, device, {}, CAIRN_SITE},
                        below_.event_destroy(device, event));
  if (result) {
    watched_.events.erase({device, event.value});
  } else {
    watched_.events[{device, event.value}] = true;
  }
  return result;
}

DriverResult<Done> Watch::ctx_record(DeviceIndex device, EventHandle event) {
  begin(DriverCall::ctx_record, device);
  return watched({DriverCall::ctx_record, device, {}, CAIRN_SITE},
                 below_.ctx_record(device, event));
}

DriverResult<Done> Watch::stream_sync(StreamRef stream) {
  begin(DriverCall::stream_sync, stream.device);
  return watched({DriverCall::stream_sync, stream.device, {}, CAIRN_SITE},
                 below_.stream_sync(stream));
}

DriverResult<Done> Watch::device_sync(DeviceIndex device) {
  begin(DriverCall::device_sync, device);
  return watched({DriverCall::device_sync, device, {}, CAIRN_SITE}, below_.device_sync(device));
}

DriverResult<ContextHandle> Watch::stream_ctx(StreamRef stream) {
  begin(DriverCall::stream_ctx, stream.device);
  return watched({DriverCall::stream_ctx, stream.device, {}, CAIRN_SITE},
                 below_.stream_ctx(stream));
}

DriverResult<std::uint64_t> Watch::stream_id(StreamRef stream) {
  begin(DriverCall::stream_id, stream.device);
  return watched({DriverCall::stream_id, stream.device, {}, CAIRN_SITE}, below_.stream_id(stream));
}

}  // namespace cairn::faults
