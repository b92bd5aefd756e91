// What memory the machine has given out, and the host memory that stands behind device addresses.
//
// With CAIRN_SIM_BACKED=1 the pages at a device allocation's own address are host memory, which
// costs nothing until it is touched; managed memory always is. Otherwise device addresses are
// numbers, and what is copied there is lost.
//
// Not thread-safe.
#pragma once

#include <map>
#include <optional>

#include "base/ids.h"
#include "base/units.h"

namespace cairn::simulator {

enum class MemoryKind { device, managed, host, registered };

struct Region {
  Span span;
  DeviceIndex device = 0;
  MemoryKind kind = MemoryKind::device;
  bool is_backed = false;  // The host can read and write it.
};

class MemoryBook {
 public:
  MemoryBook() = default;
  MemoryBook(const MemoryBook&) = delete;
  MemoryBook& operator=(const MemoryBook&) = delete;
  ~MemoryBook();

  // Enters memory of a device, and puts host memory behind it where it is to be backed. False:
  // something else of this process is at these addresses; then nothing is entered.
  bool add_of_device(Span span, DeviceIndex device, MemoryKind kind);
  // New memory of the host's; none: there is no more.
  std::optional<Address> add_of_host(Bytes size, DeviceIndex device);
  // Memory of the host's that is there already. False: some of it is known.
  bool add_registered(Span span, DeviceIndex device);
  // Forgets what begins there, and gives the host memory of it back. REQUIRES: something does.
  void remove(Address begin);

  // Null where there is none.
  const Region* beginning_at(Address address) const;
  const Region* containing(Address address) const;

 private:
  std::map<Address, Region> regions_;
};

}  // namespace cairn::simulator
