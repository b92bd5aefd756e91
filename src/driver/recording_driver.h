// A decorator that writes down every call and its answer, and counts the calls by kind. Every
// attempt counts, so it stands above a FaultInjector, whose failures it then sees as the allocator
// does.
//
// Thread safety: all members. A mutex guards the record and is not held while the driver below
// works; calls stand in the record in the order in which they came back.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "driver/driver.h"
#include "driver/driver_call.h"

namespace cairn {

// What went in and what came out; members that a kind of call does not have are 0.
struct RecordedCall {
  DriverCall call = DriverCall::malloc;
  DeviceIndex device = 0;
  Bytes size{};                             // malloc: in.
  Address address{};                        // malloc: out, where it succeeded; free: in.
  MemoryInfo memory{};                      // mem_info: out, where it succeeded.
  std::uint64_t stream = 0;                 // Its handle: in, of calls that take a stream.
  EventHandle event{};                      // event_create: out; else in.
  ContextHandle context{};                  // event_create: in; stream_ctx: out.
  bool is_done = false;                     // event_query: out.
  std::uint64_t stream_id = 0;              // stream_id: out.
  CudaStatus status = CudaStatus::success;  // How it ended.
};

class RecordingDriver final : public Driver {
 public:
  explicit RecordingDriver(Driver& below) : below_(below) {}

  // The calls since the last take_record(), which the record then no longer holds.
  std::vector<RecordedCall> take_record();

  // How many calls of that kind came since the start or the last reset_calls().
  std::uint64_t calls(DriverCall call) const;
  void reset_calls();

  int device_count() const override { return below_.device_count(); }
  Bytes total_memory(DeviceIndex device) const override { return below_.total_memory(device); }
  std::vector<ProcessMemory> processes(DeviceIndex device) const override {
    return below_.processes(device);
  }
  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override;
  DriverResult<Done> free(DeviceIndex device, Address address) override;
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) override;
  DriverResult<EventHandle> event_create(DeviceIndex device, ContextHandle context) override;
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override;
  DriverResult<bool> event_query(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> event_sync(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> event_destroy(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> ctx_record(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> stream_sync(StreamRef stream) override;
  DriverResult<Done> device_sync(DeviceIndex device) override;
  DriverResult<ContextHandle> stream_ctx(StreamRef stream) override;
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override;

 private:
  // Writes down how the call ended, and passes its result on; `note` takes what it gave.
  template <class T, class Note>
  DriverResult<T> written(RecordedCall call, DriverResult<T> result, Note&& note);
  template <class T>
  DriverResult<T> written(const RecordedCall& call, DriverResult<T> result);

  Driver& below_;
  mutable std::mutex mutex_;
  std::vector<RecordedCall> record_;
  std::array<std::uint64_t, driver_call_count> calls_{};
};

}  // namespace cairn
