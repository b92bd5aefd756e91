// Memory, events and streams, in the thread's current context.
#include "simulator/libcuda/entry_points.h"
#include "simulator/libcuda/machine.h"

namespace cairn::simulator {
namespace {

EventHandle handle_of(CUevent event) { return {reinterpret_cast<std::uint64_t>(event)}; }

template <class T>
CUresult code_of(const DriverResult<T>& result) {
  return result ? CUDA_SUCCESS : static_cast<CUresult>(result.error());
}

// What act(machine, stream) gives.
template <class Act>
CUresult on_stream(CUstream stream, Act&& act) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    const auto named = machine.stream_of(stream, current);
    return named ? act(machine, *named) : CUDA_ERROR_NOT_SUPPORTED;
  });
}

// What act(machine, device of the event) gives.
template <class Act>
CUresult on_event(CUevent event, Act&& act) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    return act(machine, machine.device_of(handle_of(event), current));
  });
}

}  // namespace

CUresult mem_alloc(CUdeviceptr* address, std::size_t size) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    const auto given = machine.gpu.malloc(current->device, Bytes{size});
    if (given) *address = given->value;
    return code_of(given);
  });
}

CUresult mem_free(CUdeviceptr address) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    return code_of(machine.gpu.free(current->device, Address{address}));
  });
}

CUresult mem_get_info(std::size_t* free_bytes, std::size_t* total_bytes) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    const auto info = machine.gpu.mem_info(current->device);
    if (!info) return code_of(info);
    *free_bytes = info->free.count;
    *total_bytes = info->total.count;
    return CUDA_SUCCESS;
  });
}

CUresult event_create(CUevent* event, unsigned int flags) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    // Events that measure time are not simulated.
    if (flags != CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_NOT_SUPPORTED;
    const auto made = machine.gpu.event_create(current->device, current->handle);
    if (!made) return code_of(made);
    machine.add_event(*made, current->device);
    *event = reinterpret_cast<CUevent>(made->value);
    return CUDA_SUCCESS;
  });
}

CUresult event_record(CUevent event, CUstream stream) {
  return on_stream(stream, [&](Machine& machine, StreamRef named) {
    return code_of(machine.gpu.event_record(named, handle_of(event)));
  });
}

CUresult event_query(CUevent event) {
  return on_event(event, [&](Machine& machine, DeviceIndex device) {
    const auto is_done = machine.gpu.event_query(device, handle_of(event));
    if (is_done && !*is_done) return CUDA_ERROR_NOT_READY;
    return code_of(is_done);
  });
}

CUresult event_synchronize(CUevent event) {
  return on_event(event, [&](Machine& machine, DeviceIndex device) {
    return code_of(machine.gpu.event_sync(device, handle_of(event)));
  });
}

CUresult event_destroy(CUevent event) {
  return on_event(event, [&](Machine& machine, DeviceIndex device) {
    return code_of(machine.gpu.event_destroy(device, handle_of(event)));
  });
}

CUresult ctx_synchronize() {
  return in_current_context([](Machine& machine, CUcontext current) {
    if (current->handle != ContextHandle{}) return CUDA_ERROR_NOT_SUPPORTED;
    return code_of(machine.gpu.device_sync(current->device));
  });
}

CUresult ctx_record_event(CUcontext context, CUevent event) {
  return with_machine([&](Machine& machine) {
    if (context->handle != ContextHandle{}) return CUDA_ERROR_NOT_SUPPORTED;
    return code_of(machine.gpu.ctx_record(context->device, handle_of(event)));
  });
}

CUresult stream_create(CUstream* stream, unsigned int flags) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    const bool is_blocking = flags == CU_STREAM_DEFAULT;
    const auto made =
        machine.gpu.make_stream({current->device, is_blocking, current->handle, std::nullopt});
    if (!made) return CUDA_ERROR_INVALID_VALUE;
    machine.add_stream(*made);
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
    return code_of(machine.gpu.stream_sync(named));
  });
}

CUresult stream_get_ctx(CUstream stream, CUcontext* context) {
  return on_stream(stream, [&](Machine& machine, StreamRef named) {
    const auto handle = machine.gpu.stream_ctx(named);
    if (handle) *context = machine.context_of(named.device, *handle);
    return code_of(handle);
  });
}

CUresult stream_get_id(CUstream stream, unsigned long long* id) {
  return on_stream(stream, [&](Machine& machine, StreamRef named) {
    const auto found = machine.gpu.stream_id(named);
    if (found) *id = *found;
    return code_of(found);
  });
}

}  // namespace cairn::simulator
