// The allocators of all devices behind the public face: checks what the caller passed, finds the
// device, and passes on. World and the checkers look in here.
//
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/callbacks.h"
#include "allocator/device_allocator.h"
#include "allocator/stream_directory.h"
#include "base/guarded.h"
#include "base/result.h"
#include "base/units.h"
#include "cairn/allocator.h"
#include "cairn/stream.h"
#include "heap/deviations.h"

namespace cairn {

// What a checked free says of the block.
struct FreeCheck {
  Bytes size;
  Stream stream = nullptr;  // As the caller names it.
};

class AllDevices {
 public:
  AllDevices(Driver& driver, const Options& options);

  Result<Address, Error> allocate(const Request& request) {
    const Address served = hit(request);
    if (served != Address{}) return served;
    return miss(request);
  }
  // What most calls are (see DeviceAllocator): address 0, or false, where there is more to it, or
  // to what the request says.
  Address hit(const Request& request);
  bool free_unused(Address address);

  // What hit() had nothing for. Address 0 for a request of 0 bytes.
  Result<Address, Error> miss(const Request& request);
  Result<Done, Error> free(Address address, const FreeCheck* check) {
    if (check == nullptr && free_unused(address)) return Done{};
    return free_any(address, check);
  }
  // A free that is checked, or that free_unused() left alone.
  Result<Done, Error> free_any(Address address, const FreeCheck* check);
  // `device`: of the stream; Allocator::block_device is that of the block.
  Result<Done, Error> record_stream(Address address, Stream stream, int device);
  Result<Done, Error> free_on(Address address, Stream stream, int device);
  Result<Done, Error> forget_stream(DeviceIndex device, Stream stream);
  Result<Done, Error> process_events(DeviceIndex device);
  Result<Done, Error> empty_cache();
  Result<Done, Error> set_memory_fraction(DeviceIndex device, double fraction);
  Result<Done, Error> reconfigure(std::string_view text);

  Callbacks& callbacks() { return callbacks_; }
  const StreamDirectory& streams() const { return streams_; }
  int device_count() const { return static_cast<int>(devices_.size()); }
  // REQUIRES: 0 <= index < device_count().
  DeviceAllocator& device(DeviceIndex index) { return *devices_[static_cast<std::size_t>(index)]; }
  const DeviceAllocator& device(DeviceIndex index) const {
    return *devices_[static_cast<std::size_t>(index)];
  }
  // Null where there is no such device.
  DeviceAllocator* find_device(DeviceIndex index);

 private:
  // Whether there is nothing to ask or to find fault with but the device.
  bool is_plain(const Request& request) const;
  Result<Done, Error> free_checked(Address address, const FreeCheck& check);
  // What act(device) does with the one device that has the address.
  template <class Act>
  Result<Done, Error> at_device_of(Address address, Act&& act);
  // The device of the live block that begins there.
  Result<DeviceIndex, Error> holder(Address address);
  // Which stream the handle names. A device that is lost is not asked. REQUIRES: it exists.
  Result<StreamId, Error> identify(StreamRef stream);
  // As the caller of record_stream() names it.
  Result<UserStream, Error> user(Address address, Stream stream, int device);

  Callbacks callbacks_;
  StreamDirectory streams_;
  std::vector<std::unique_ptr<DeviceAllocator>> devices_;
  Guarded<Options> options_;  // Of now.
  const Deviations deviations_;
};

// The first setting that is not supported yet; empty where all are.
std::string unsupported_setting_in(const Options& options);

}  // namespace cairn
