// Events and streams, in the thread's current context.
#include <algorithm>

#include "simulator/libcuda/entry_points.h"
#include "simulator/libcuda/machine.h"

namespace cairn::simulator {
namespace {

EventHandle handle_of(CUevent event) { return {reinterpret_cast<std::uint64_t>(event)}; }

// What act(machine, device of the event) gives.
template <class Act>
CUresult on_event(CUevent event, Act&& act) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    return act(machine, machine.device_of(handle_of(event), current));
  });
}

}  // namespace

CUresult event_create(CUevent* event, unsigned int flags) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    constexpr unsigned int known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
    // Events for other processes are not simulated.
    if ((flags & CU_EVENT_INTERPROCESS) != 0) return CUDA_ERROR_NOT_SUPPORTED;
    if (event == nullptr || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    const auto made = machine.calls.event_create(current->device, current->handle);
    if (!made) return code_of(made);
    machine.add_event(*made, {current->device, (flags & CU_EVENT_DISABLE_TIMING) == 0, {}});
    *event = reinterpret_cast<CUevent>(made->value);
    return CUDA_SUCCESS;
  });
}

CUresult event_record(CUevent event, CUstream stream) {
  return on_stream(stream, [&](Machine& machine, StreamRef named) {
    const auto recorded = machine.calls.event_record(named, handle_of(event));
    if (recorded) machine.facts_of(handle_of(event))->recorded_at = machine.gpu.now();
    return code_of(recorded);
  });
}

CUresult event_elapsed_time(float* milliseconds, CUevent start, CUevent end) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
    double at[2] = {};
    for (CUevent event : {start, end}) {
      const EventHandle handle = handle_of(event);
      const auto done_at = machine.gpu.event_time(machine.device_of(handle, current), handle);
      if (!done_at) return code_of(done_at);
      const EventFacts& facts = *machine.facts_of(handle);
      if (!facts.measures_time || !facts.recorded_at) return CUDA_ERROR_INVALID_HANDLE;
      if (*done_at > machine.gpu.now()) return CUDA_ERROR_NOT_READY;
      at[event == end ? 1 : 0] = static_cast<double>(std::max(*done_at, *facts.recorded_at));
    }
    constexpr double ticks_per_millisecond = 1e6;
    *milliseconds = static_cast<float>((at[1] - at[0]) / ticks_per_millisecond);
    return CUDA_SUCCESS;
  });
}

CUresult event_query(CUevent event) {
  return on_event(event, [&](Machine& machine, DeviceIndex device) {
    const auto is_done = machine.calls.event_query(device, handle_of(event));
    if (is_done && !*is_done) return CUDA_ERROR_NOT_READY;
    return code_of(is_done);
  });
}

CUresult event_synchronize(CUevent event) {
  return on_event(event, [&](Machine& machine, DeviceIndex device) {
    return code_of(machine.calls.event_sync(device, handle_of(event)));
  });
}

CUresult event_destroy(CUevent event) {
  return on_event(event, [&](Machine& machine, DeviceIndex device) {
    return code_of(machine.calls.event_destroy(device, handle_of(event)));
  });
}

CUresult ctx_synchronize() {
  return in_current_context([](Machine& machine, CUcontext current) {
    if (current->handle != ContextHandle{}) return CUDA_ERROR_NOT_SUPPORTED;
    return code_of(machine.calls.device_sync(current->device));
  });
}

CUresult ctx_record_event(CUcontext context, CUevent event) {
  return with_machine([&](Machine& machine) {
    if (!machine.has(context)) return CUDA_ERROR_INVALID_CONTEXT;
    if (context->handle != ContextHandle{}) return CUDA_ERROR_NOT_SUPPORTED;
    return code_of(machine.calls.ctx_record(context->device, handle_of(event)));
  });
}

CUresult stream_create(CUstream* stream, unsigned int flags) {
  return stream_create_with_priority(stream, flags, 0);
}

CUresult stream_create_with_priority(CUstream* stream, unsigned int flags, int priority) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    if (stream == nullptr || (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const bool is_blocking = flags == CU_STREAM_DEFAULT;
    const auto made =
        machine.gpu.make_stream({current->device, is_blocking, current->handle, std::nullopt});
    if (!made) return CUDA_ERROR_INVALID_VALUE;
    const int given = std::clamp(priority, greatest_priority, 0);
    machine.add_stream(*made, {current->device, flags, given});
    *stream = reinterpret_cast<CUstream>(made->handle);
    return CUDA_SUCCESS;
  });
}

CUresult stream_destroy(CUstream stream) {
  return on_stream(stream, [&](Machine& machine, StreamRef named) {
    const bool is_destroyed{machine.gpu.destroy_stream(named, false)};
    return is_destroyed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult stream_synchronize(CUstream stream) {
  return on_stream(stream, [&](Machine& machine, StreamRef named) {
    return code_of(machine.calls.stream_sync(named));
  });
}

CUresult stream_query(CUstream stream) {
  return on_stream(stream, [&](Machine& machine, StreamRef named) {
    const auto is_done = machine.gpu.stream_query(named);
    machine.note({.call = DriverCall::stream_query,
                  .device = named.device,
                  .stream = named.handle,
                  .status = is_done ? CudaStatus::success : is_done.error()});
    if (is_done && !*is_done) return CUDA_ERROR_NOT_READY;
    return code_of(is_done);
  });
}

CUresult stream_wait_event(CUstream stream, CUevent event, unsigned int) {
  return on_stream(stream, [&](Machine& machine, StreamRef named) {
    const EventFacts* const facts = machine.facts_of(handle_of(event));
    const DeviceIndex device = facts == nullptr ? named.device : facts->device;
    const auto waits = machine.gpu.stream_wait(named, device, handle_of(event));
    machine.note({.call = DriverCall::stream_wait,
                  .device = named.device,
                  .stream = named.handle,
                  .event = handle_of(event),
                  .status = waits ? CudaStatus::success : waits.error()});
    return code_of(waits);
  });
}

CUresult stream_facts(CUstream stream, StreamFacts* facts) {
  return on_stream(stream, [&](Machine& machine, StreamRef named) {
    const auto known = machine.gpu.stream_ctx(named);
    if (known) *facts = machine.facts_of(named);
    return code_of(known);
  });
}

CUresult stream_get_ctx(CUstream stream, CUcontext* context) {
  return on_stream(stream, [&](Machine& machine, StreamRef named) {
    const auto handle = machine.calls.stream_ctx(named);
    if (handle) *context = machine.context_of(named.device, *handle);
    return code_of(handle);
  });
}

CUresult stream_get_id(CUstream stream, unsigned long long* id) {
  return on_stream(stream, [&](Machine& machine, StreamRef named) {
    const auto found = machine.calls.stream_id(named);
    if (found) *id = *found;
    return code_of(found);
  });
}

}  // namespace cairn::simulator
