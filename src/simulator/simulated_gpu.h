// All devices of a machine that has none: their memory as addresses, never touched; streams, events
// and kernels in virtual time; and a judge that sees memory given out, used or given back wrongly.
// Deterministic: the same calls give the same answers.
//
// Each allocation takes its size rounded up to 2 MiB off the device's memory, and lands where
// AddressSpace puts it. Giving memory back waits for nothing.
//
// Virtual time moves by advance() and by waiting for work, which moves it to the end of that work;
// all other work that ends by then is done too. Events wait for the same work as streams do
// (see Streams).
//
// Thread safety: all members; one mutex guards everything.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "driver/driver.h"
#include "simulator/address_space.h"
#include "simulator/clock.h"
#include "simulator/contexts.h"
#include "simulator/events.h"
#include "simulator/host_view.h"
#include "simulator/judge.h"
#include "simulator/streams.h"

namespace cairn::simulator {

struct DeviceOptions {
  Bytes memory{std::uint64_t{80} << 30};  // At most address_limit.
  bool adjacent = false;
  bool reuse_addresses = false;
};

class SimulatedGpu {
 public:
  explicit SimulatedGpu(const std::vector<DeviceOptions>& devices = {DeviceOptions{}});
  SimulatedGpu(const SimulatedGpu&) = delete;
  SimulatedGpu& operator=(const SimulatedGpu&) = delete;

  int device_count() const { return static_cast<int>(devices_.size()); }

  // ---- the driver's calls ----
  DriverResult<Address> malloc(DeviceIndex device, Bytes size);
  DriverResult<Done> free(DeviceIndex device, Address address);
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) const;
  DriverResult<EventHandle> event_create(DeviceIndex device, ContextHandle context);
  DriverResult<Done> event_record(StreamRef stream, EventHandle event);
  DriverResult<bool> event_query(DeviceIndex device, EventHandle event);
  DriverResult<Done> event_sync(DeviceIndex device, EventHandle event);
  DriverResult<Done> event_destroy(DeviceIndex device, EventHandle event);
  // When all that the event waits for is done.
  DriverResult<Ticks> event_time(DeviceIndex device, EventHandle event);
  DriverResult<Done> ctx_record(DeviceIndex device, EventHandle event);
  DriverResult<Done> stream_sync(StreamRef stream);
  DriverResult<bool> stream_query(StreamRef stream);
  // All later work on the stream waits for what the event, of that device, waits for.
  DriverResult<Done> stream_wait(StreamRef stream, DeviceIndex device, EventHandle event);
  DriverResult<Done> device_sync(DeviceIndex device);
  DriverResult<ContextHandle> stream_ctx(StreamRef stream);
  DriverResult<std::uint64_t> stream_id(StreamRef stream);

  // ---- what an application does with its streams. A refusal says why, and changes nothing ----

  // A further context of the device, beside its primary one.
  Result<ContextHandle, std::string> make_context(DeviceIndex device);
  Result<StreamRef, std::string> make_stream(const StreamOptions& options);
  // Waits for all work of the device's primary context; then its streams and events are no more,
  // and the memory that begins at these addresses, which was allocated in it, is free. No
  // violation: the program is to know.
  void reset_primary_context(DeviceIndex device, const std::vector<Address>& memory);
  // Work on it goes on. Announced: whoever was to know it has been told, so that a call with the
  // dead handle is a violation.
  Result<Done, std::string> destroy_stream(StreamRef stream, bool announced);
  // The program goes on to name a stream that it destroyed: calls with it are no violation any
  // more.
  void pass_dead_stream(StreamRef stream);
  // Which stream the handle names now, for the calling thread; 0: none, or a dead one.
  StreamNumber identify(StreamRef stream) const;
  // A kernel that uses the ranges for so many ticks, once the work before it on the stream is done.
  Result<Done, std::string> launch(StreamRef stream, const std::vector<Touch>& touches,
                                   std::uint64_t ticks);
  // The same with one range, of which the program need not have told that it holds it.
  Result<Done, std::string> touch(StreamRef stream, const Touch& touch, std::uint64_t ticks);
  // All later work on `after` waits for the work that is on `before` now.
  Result<Done, std::string> order(StreamRef before, StreamRef after);
  void advance(std::uint64_t ticks);
  Ticks now() const;
  // The application waits; no call of the allocator's.
  Result<Done, std::string> synchronize(StreamRef stream);
  Result<Done, std::string> synchronize(DeviceIndex device);
  // Events that exist, of all devices.
  std::size_t event_count() const;

  // ---- what a program says of its machine. A refusal says why, and changes nothing ----

  // Memory that the driver has out already when the program starts, at any unused address.
  Result<Done, std::string> place(DeviceIndex device, Span span);
  // Where the device's next allocation that succeeds will be, once, instead of where it would be by
  // itself. Whether all of it is unused shows then; if not, it lands where it would by itself, and
  // mistakes() tells.
  Result<Done, std::string> set_next_address(DeviceIndex device, Address address);
  std::vector<std::string> mistakes() const;

  // ---- the judge. REQUIRES: the device exists; ranges are not empty ----

  // Tells which memory the program holds: it was handed the range for work on `owner`, or gave it
  // back to the allocator, which it had told of work on `recorded`.
  void hand_out(DeviceIndex device, Span range, StreamNumber owner);
  void take_back(DeviceIndex device, Span range, const std::vector<StreamNumber>& recorded);

  // Number of pairs of overlapping ranges that the program holds now.
  std::uint64_t overlaps(DeviceIndex device) const;
  // Memory minus what the driver has given out. REQUIRES: the device exists.
  Bytes device_free(DeviceIndex device) const;
  // All that was seen since the start, on all devices, in order.
  std::vector<Violation> violations() const;
  std::size_t violation_count() const;

  // ---- for whoever compares what two machines will do ----
  struct Knowledge {
    const Streams& streams;
    const Events& events;
    const HostView& host;
    const Judge& judge;
    Ticks now;
  };
  // Calls look(const Knowledge&) under the mutex.
  template <class Look>
  auto inspect(Look&& look) const {
    const std::lock_guard lock(mutex_);
    return std::forward<Look>(look)(Knowledge{streams_, events_, host_, judge_, now_});
  }

 private:
  struct Device {
    Bytes memory;
    Bytes used;
    std::optional<Address> next_address;
  };

  bool exists(DeviceIndex device) const { return 0 <= device && device < device_count(); }
  Device& at(DeviceIndex device) { return devices_[static_cast<std::size_t>(device)]; }
  const Device& at(DeviceIndex device) const { return devices_[static_cast<std::size_t>(device)]; }
  Bytes left(DeviceIndex device) const { return at(device).memory - at(device).used; }
  // Why no allocation can be at that span, whatever is left of the device's memory; none: it can.
  std::optional<std::string> obstacle(Span span) const;
  Address find_place(DeviceIndex device, Bytes size);

  // The stream that is named, or why the driver refuses the call.
  DriverResult<StreamNumber> stream_of(StreamRef stream, const char* call);
  DriverResult<Event*> event_of(DeviceIndex device, EventHandle event, const char* call);
  // The same for an application.
  Result<StreamNumber, std::string> stream_of(StreamRef stream) const;
  std::optional<std::string> obstacle(const Touch& touch) const;
  void wait_for(const Point& point);
  // Forgets what cannot matter any more, now and then.
  void tidy();

  mutable std::mutex mutex_;
  std::vector<Device> devices_;
  AddressSpace memory_;
  HostView host_;
  Contexts contexts_;
  Streams streams_;
  Events events_;
  Judge judge_;
  Ticks now_ = 0;
  std::size_t tidy_above_ = 1024;  // Streams and accesses that are remembered.
};

}  // namespace cairn::simulator
