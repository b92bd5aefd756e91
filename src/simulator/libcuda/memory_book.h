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
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "driver/driver.h"

namespace cairn::simulator {

// The context that memory was allocated in.
struct Home {
  DeviceIndex device = 0;
  ContextHandle context;  // 0: the device's primary one.

  bool operator==(const Home&) const = default;
};

enum class MemoryKind { device, managed, host, registered };

struct Region {
  Span span;
  Home home;
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
  bool add_of_device(Span span, Home home, MemoryKind kind);
  // New memory of the host's; none: there is no more.
  std::optional<Address> add_of_host(Bytes size, Home home);
  // Memory of the host's that is there already. False: some of it is known.
  bool add_registered(Span span, Home home);
  // Forgets what begins there, and gives the host memory of it back. REQUIRES: something does.
  void remove(Address begin);
  // The same for all of that home. Gives where those of the device's memory began.
  std::vector<Address> remove_all(Home home);

  // Null where there is none.
  const Region* beginning_at(Address address) const;
  const Region* containing(Address address) const;

 private:
  std::map<Address, Region> regions_;
};

}  // namespace cairn::simulator
