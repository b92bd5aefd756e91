// All devices of a machine that has none: their memory as addresses, never touched, and a judge
// that sees memory given out or given back wrongly. Deterministic: the same calls give the same
// answers.
//
// Each allocation takes its size rounded up to 2 MiB off the device's memory, and lands where
// AddressSpace puts it.
//
// Thread safety: all members; one mutex guards everything.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "driver/driver.h"
#include "simulator/address_space.h"
#include "simulator/judge.h"

namespace cairn::simulator {

struct DeviceOptions {
  Bytes memory{std::uint64_t{80} << 30};  // At most address_limit.
  bool adjacent = false;
  bool reuse_addresses = false;
};

// A stream of the simulated machine. No two ever have the same, whatever their handles.
enum class StreamNumber : std::uint64_t { none = 0 };

struct StreamOptions {
  DeviceIndex device = 0;
  bool is_blocking = false;  // Ordered with the legacy default stream.
  ContextHandle context{};
  std::optional<std::uint64_t> reuse_handle;  // Of a stream that was destroyed.
};

// What a kernel does to memory.
struct Touch {
  DeviceIndex device = 0;  // That the memory is of.
  Span range;
  bool read_only = false;
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
  DriverResult<Done> ctx_record(DeviceIndex device, EventHandle event);
  DriverResult<Done> stream_sync(StreamRef stream);
  DriverResult<Done> device_sync(DeviceIndex device);
  DriverResult<ContextHandle> stream_ctx(StreamRef stream);
  DriverResult<std::uint64_t> stream_id(StreamRef stream);

  // ---- what an application does with its streams. A refusal says why, and changes nothing ----

  // A further context of the device, beside its primary one.
  Result<ContextHandle, std::string> make_context(DeviceIndex device);
  Result<StreamRef, std::string> make_stream(const StreamOptions& options);
  // Work on it goes on. Announced: whoever was to know it has been told, so that a call with the
  // dead handle is a violation.
  Result<Done, std::string> destroy_stream(StreamRef stream, bool announced);
  // Which stream the handle names now, for the calling thread; 0: none, or a dead one.
  StreamNumber identify(StreamRef stream) const;
  // A kernel that uses the ranges for so many ticks, once the work before it on the stream is done.
  Result<Done, std::string> launch(StreamRef stream, const std::vector<Touch>& touches,
                                   std::uint64_t ticks);
  // All later work on `after` waits for the work that is on `before` now.
  Result<Done, std::string> order(StreamRef before, StreamRef after);
  void advance(std::uint64_t ticks);
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

  mutable std::mutex mutex_;
  std::vector<Device> devices_;
  AddressSpace memory_;
  Judge judge_;
  std::vector<std::string> mistakes_;
};

}  // namespace cairn::simulator
