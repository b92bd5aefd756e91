// What applications want to be asked, or told, when memory is short. They are called on the thread
// that allocates, which holds no lock then.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/ids.h"
#include "cairn/allocator.h"
#include "cairn/errors.h"

namespace cairn {

class Callbacks {
 public:
  using FreeMemory = std::function<bool(int device)>;
  using OutOfMemoryObserver = std::function<void(const Error&)>;

  CallbackId add(FreeMemory callback);
  CallbackId add(OutOfMemoryObserver observer);
  void remove(CallbackId id) noexcept;

  // Whether there is anybody to ask: no free-memory callback is, nor is one of a thread that runs
  // in one already.
  bool can_free_memory() const;
  // Asks all, in the order of registration. What they threw is added to `complaints`.
  bool free_memory(DeviceIndex device, std::string& complaints);
  // Tells all observers; what they throw is added to the error's message. What fails inside of an
  // observer is not told: it would be without end.
  void tell(Error& error);

 private:
  template <class Function>
  struct Registered {
    CallbackId id;
    std::shared_ptr<const Function> call;  // Stays while it runs, though it be removed.
  };
  struct Lists {
    std::vector<Registered<FreeMemory>> free_memory;
    std::vector<Registered<OutOfMemoryObserver>> observers;
    std::uint64_t last_id = 0;
  };

  Guarded<Lists> lists_;
};

}  // namespace cairn
