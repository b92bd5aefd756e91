// The machine behind the simulated libcuda: a SimulatedGpu, and what CUDA's calls say without
// naming it: which context is current for a thread, and which device a stream or an event is of.
//
// Thread safety: everything here is under the mutex that with_machine() holds; the stack of current
// contexts is the thread's own.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "driver/fault_injector.h"
#include "driver/recording_driver.h"
#include "simulator/libcuda/memory_book.h"
#include "simulator/simulated_driver.h"
#include "simulator/simulated_gpu.h"

struct CUctx_st {
  cairn::DeviceIndex device = 0;
  cairn::ContextHandle handle;  // 0: the primary one.
};

namespace cairn::simulator {

// What the machine knows of a stream beside the simulated GPU.
struct StreamFacts {
  DeviceIndex device = 0;
  unsigned int flags = CU_STREAM_DEFAULT;
  int priority = 0;
};

// What the machine knows of an event beside the simulated GPU.
struct EventFacts {
  DeviceIndex device = 0;
  bool measures_time = false;
  std::optional<Ticks> recorded_at;
};

class Machine {
 public:
  explicit Machine(const std::vector<DeviceOptions>& devices);

  SimulatedGpu gpu;
  SimulatedDriver driver{gpu};
  FaultInjector faults{driver};
  RecordingDriver calls{faults};  // The driver's calls, of which some are to fail.
  MemoryBook memory;
  std::size_t violations_told = 0;
  // The driver's calls in words, a line each, for who wants to be told of them; none: nobody does.
  std::optional<std::string> untold_calls;
  std::vector<int> primary_holds;  // How often each device's primary context is held.

  void note(const RecordedCall& call);  // One that `calls` does not see.

  CUcontext primary_context(DeviceIndex device) { return &contexts_[index_of(device)]; }
  bool has(CUcontext context) const;
  CUcontext add_context(DeviceIndex device, ContextHandle handle);
  // REQUIRES: the context is of this machine.
  CUcontext context_of(DeviceIndex device, ContextHandle handle);

  void add_stream(StreamRef stream, StreamFacts facts) { streams_[stream.handle] = facts; }
  // Those of default streams are the same for all.
  StreamFacts facts_of(StreamRef stream) const;
  // The stream that the handle names where `current` is the current context; the default streams
  // of contexts but the primary one are not simulated.
  std::optional<StreamRef> stream_of(CUstream stream, CUcontext current) const;

  void add_event(EventHandle event, EventFacts facts) { events_[event.value] = facts; }
  // Null: nobody knows it.
  EventFacts* facts_of(EventHandle event);
  // An event that nobody knows is taken for one of the current device, which refuses it.
  DeviceIndex device_of(EventHandle event, CUcontext current) const;

 private:
  static std::size_t index_of(DeviceIndex device) { return static_cast<std::size_t>(device); }

  std::deque<CUctx_st> contexts_;  // The primary ones first, in order of devices.
  std::map<std::uint64_t, StreamFacts> streams_;
  std::map<std::uint64_t, EventFacts> events_;
};

// Makes the machine, as the environment says, if there is none. False: the environment is bad.
bool make_machine();
void end_machine();

// The contexts that the calling thread has pushed, the current one last.
std::vector<CUcontext>& context_stack();

std::mutex& machine_mutex();
// Null before cuInit. For the holder of machine_mutex() alone.
Machine* machine();

// After each call: prints what the judge has found since the last one, or ends the program for it,
// and puts the driver's calls into words where somebody wants to be told of them.
void conclude(Machine& machine);

// What act(machine) gives, under the mutex.
template <class Act>
CUresult with_machine(Act&& act) {
  const std::lock_guard lock(machine_mutex());
  if (machine() == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  try {  // Nothing may be thrown at who called it by C.
    const CUresult done = act(*machine());
    conclude(*machine());
    return done;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}
// What act(machine, current context) gives, under the mutex.
template <class Act>
CUresult in_current_context(Act&& act) {
  return with_machine([&](Machine& machine) {
    if (context_stack().empty()) return CUDA_ERROR_INVALID_CONTEXT;
    return act(machine, context_stack().back());
  });
}

// What act(machine, stream) gives, in the current context.
template <class Act>
CUresult on_stream(CUstream stream, Act&& act) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    const auto named = machine.stream_of(stream, current);
    return named ? act(machine, *named) : CUDA_ERROR_NOT_SUPPORTED;
  });
}

template <class T>
CUresult code_of(const DriverResult<T>& result) {
  return result ? CUDA_SUCCESS : static_cast<CUresult>(result.error());
}

}  // namespace cairn::simulator
