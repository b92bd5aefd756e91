// Each call of a Driver once, as data, with a driver below whose answers cannot be mistaken: for
// tests that a decorator passes every call on, and every answer back.
#pragma once

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "driver/recording_driver.h"

namespace cairn {

// A number as an answer, of each call its own.
class AnsweringDriver final : public Driver {
 public:
  int device_count() const override { return 3; }
  Bytes total_memory(DeviceIndex device) const override {
    return Bytes{1000 + static_cast<std::uint64_t>(device)};
  }
  std::vector<ProcessMemory> processes(DeviceIndex device) const override {
    return {{static_cast<std::uint32_t>(device), Bytes{77}}};
  }
  DriverResult<Address> malloc(DeviceIndex, Bytes) override { return Address{51200}; }
  DriverResult<Done> free(DeviceIndex, Address) override { return Done{}; }
  DriverResult<MemoryInfo> mem_info(DeviceIndex) override { return MemoryInfo{Bytes{3}, Bytes{9}}; }
  DriverResult<EventHandle> event_create(DeviceIndex, ContextHandle) override {
    return EventHandle{61};
  }
  DriverResult<Done> event_record(StreamRef, EventHandle) override { return Done{}; }
  DriverResult<bool> event_query(DeviceIndex, EventHandle) override { return true; }
  DriverResult<Done> event_sync(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> event_destroy(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> ctx_record(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> stream_sync(StreamRef) override { return Done{}; }
  DriverResult<Done> device_sync(DeviceIndex) override { return Done{}; }
  DriverResult<ContextHandle> stream_ctx(StreamRef) override { return ContextHandle{71}; }
  DriverResult<std::uint64_t> stream_id(StreamRef) override { return 81; }
};

inline bool operator==(const RecordedCall& a, const RecordedCall& b) {
  const auto members = [](const RecordedCall& of) {
    return std::tuple(of.call, of.device, of.size, of.address, of.memory.free, of.memory.total,
                      of.stream, of.event, of.context, of.is_done, of.stream_id, of.status);
  };
  return members(a) == members(b);
}

template <class T>
CudaStatus status_of(const DriverResult<T>& result) {
  return result ? CudaStatus::success : result.error();
}

// How the call ended; what it gave must be what was `told`.
template <class T>
CudaStatus status_of(const DriverResult<T>& result, const T& told) {
  if (result) {
    EXPECT_TRUE(*result == told);
  }
  return status_of(result);
}

struct CallInTest {
  RecordedCall told;  // What goes in, and what an AnsweringDriver gives.
  CudaStatus (*make)(Driver& driver, const RecordedCall& told);
};

// In the order in which an event of the device's primary context may be used; all for device 1.
inline std::vector<CallInTest> every_call() {
  using Told = const RecordedCall&;
  constexpr EventHandle event{61};
  return {
      {{.call = DriverCall::malloc, .device = 1, .size = Bytes{4096}, .address = Address{51200}},
       [](Driver& d, Told t) { return status_of(d.malloc(t.device, t.size), t.address); }},
      {{.call = DriverCall::mem_info, .device = 1, .memory = {Bytes{3}, Bytes{9}}},
       [](Driver& d, Told t) {
         const auto info = d.mem_info(t.device);
         if (info) {
           EXPECT_EQ(std::tuple(info->free, info->total),
                     std::tuple(t.memory.free, t.memory.total));
         }
         return status_of(info);
       }},
      {{.call = DriverCall::event_create, .device = 1, .event = event, .context = {71}},
       [](Driver& d, Told t) { return status_of(d.event_create(t.device, t.context), t.event); }},
      {{.call = DriverCall::stream_ctx, .device = 1, .stream = 21, .context = {71}},
       [](Driver& d, Told t) { return status_of(d.stream_ctx({t.device, t.stream}), t.context); }},
      {{.call = DriverCall::event_record, .device = 1, .stream = 21, .event = event},
       [](Driver& d, Told t) { return status_of(d.event_record({t.device, t.stream}, t.event)); }},
      {{.call = DriverCall::event_query, .device = 1, .event = event, .is_done = true},
       [](Driver& d, Told t) { return status_of(d.event_query(t.device, t.event), t.is_done); }},
      {{.call = DriverCall::event_sync, .device = 1, .event = event},
       [](Driver& d, Told t) { return status_of(d.event_sync(t.device, t.event)); }},
      {{.call = DriverCall::event_destroy, .device = 1, .event = event},
       [](Driver& d, Told t) { return status_of(d.event_destroy(t.device, t.event)); }},
      {{.call = DriverCall::event_create, .device = 1, .event = event, .context = {}},
       [](Driver& d, Told t) { return status_of(d.event_create(t.device, t.context), t.event); }},
      {{.call = DriverCall::ctx_record, .device = 1, .event = event},
       [](Driver& d, Told t) { return status_of(d.ctx_record(t.device, t.event)); }},
      {{.call = DriverCall::event_destroy, .device = 1, .event = event},
       [](Driver& d, Told t) { return status_of(d.event_destroy(t.device, t.event)); }},
      {{.call = DriverCall::stream_sync, .device = 1, .stream = 22},
       [](Driver& d, Told t) { return status_of(d.stream_sync({t.device, t.stream})); }},
      {{.call = DriverCall::device_sync, .device = 1},
       [](Driver& d, Told t) { return status_of(d.device_sync(t.device)); }},
      {{.call = DriverCall::stream_id, .device = 1, .stream = 23, .stream_id = 81},
       [](Driver& d, Told t) { return status_of(d.stream_id({t.device, t.stream}), t.stream_id); }},
      {{.call = DriverCall::free, .device = 1, .address = Address{51200}},
       [](Driver& d, Told t) { return status_of(d.free(t.device, t.address)); }},
  };
}

// Each call goes through `decorator` to `below` as it is, and its answer comes back. REQUIRES:
// `below` is over an AnsweringDriver, and `decorator` over `below`.
inline void expect_all_passes(Driver& decorator, RecordingDriver& below) {
  (void)below.take_record();
  for (const CallInTest& call : every_call()) {
    EXPECT_EQ(call.make(decorator, call.told), CudaStatus::success) << to_string(call.told.call);
    const std::vector<RecordedCall> record = below.take_record();
    ASSERT_EQ(record.size(), 1u) << to_string(call.told.call);
    EXPECT_TRUE(record.front() == call.told) << to_string(call.told.call);
  }
  EXPECT_EQ(decorator.device_count(), 3);
  EXPECT_EQ(decorator.total_memory(2), Bytes{1002});
  EXPECT_EQ(decorator.processes(2).front().used, Bytes{77});
}

}  // namespace cairn
