// Devices and contexts.
#include <cstdio>

#include "simulator/libcuda/entry_points.h"
#include "simulator/libcuda/environment.h"
#include "simulator/libcuda/machine.h"

namespace cairn::simulator {
namespace {

// What act(machine) gives, if there is such a device.
template <class Act>
CUresult with_device(CUdevice device, Act&& act) {
  return with_machine([&](Machine& machine) {
    if (device < 0 || device >= machine.gpu.device_count()) return CUDA_ERROR_INVALID_DEVICE;
    return act(machine);
  });
}

}  // namespace

CUresult init(unsigned int flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!make_machine()) return CUDA_ERROR_INVALID_VALUE;
  return with_machine([](Machine& machine) {
    return machine.gpu.device_count() == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
  });
}

CUresult driver_get_version(int* version) {
  *version = cuda_version();
  return CUDA_SUCCESS;
}

CUresult device_get_count(int* count) {
  return with_machine([&](Machine& machine) {
    *count = machine.gpu.device_count();
    return CUDA_SUCCESS;
  });
}

CUresult device_get(CUdevice* device, int ordinal) {
  return with_device(ordinal, [&](Machine&) {
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult device_total_mem(std::size_t* bytes, CUdevice device) {
  return with_device(device, [&](Machine& machine) {
    *bytes = machine.gpu.mem_info(device)->total.count;
    return CUDA_SUCCESS;
  });
}

CUresult device_get_pci_bus_id(char* text, int size, CUdevice device) {
  return with_device(device, [&](Machine&) {
    const int length =
        std::snprintf(text, static_cast<std::size_t>(size), "0000:%02X:00.0", device + 1);
    return length < size ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult primary_ctx_retain(CUcontext* context, CUdevice device) {
  return with_device(device, [&](Machine& machine) {
    ++machine.primary_holds[static_cast<std::size_t>(device)];
    *context = machine.primary_context(device);
    return CUDA_SUCCESS;
  });
}

CUresult primary_ctx_release(CUdevice device) {
  return with_device(device, [&](Machine& machine) {
    int& holds = machine.primary_holds[static_cast<std::size_t>(device)];
    if (holds == 0) return CUDA_ERROR_INVALID_CONTEXT;
    --holds;
    return CUDA_SUCCESS;
  });
}

CUresult primary_ctx_get_state(CUdevice device, unsigned int* flags, int* active) {
  return with_device(device, [&](Machine& machine) {
    *flags = 0;
    *active = machine.primary_holds[static_cast<std::size_t>(device)] > 0 ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

// It stays current for whom it was, and is as new.
CUresult primary_ctx_reset(CUdevice device) {
  return with_device(device, [&](Machine& machine) {
    machine.gpu.reset_primary_context(device, machine.memory.remove_all({device, {}}));
    return CUDA_SUCCESS;
  });
}

CUresult ctx_create(CUcontext* context, unsigned int, CUdevice device) {
  return with_device(device, [&](Machine& machine) {
    const auto made = machine.gpu.make_context(device);
    if (!made) return CUDA_ERROR_INVALID_VALUE;
    *context = machine.add_context(device, *made);
    context_stack().push_back(*context);
    return CUDA_SUCCESS;
  });
}

// The simulated GPU keeps it, and nobody can tell.
CUresult ctx_destroy(CUcontext context) {
  return with_machine([&](Machine&) {
    auto& stack = context_stack();
    if (!stack.empty() && stack.back() == context) stack.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult ctx_get_current(CUcontext* context) {
  return with_machine([&](Machine&) {
    *context = context_stack().empty() ? nullptr : context_stack().back();
    return CUDA_SUCCESS;
  });
}

CUresult ctx_get_device(CUdevice* device) {
  return in_current_context([&](Machine&, CUcontext current) {
    *device = current->device;
    return CUDA_SUCCESS;
  });
}

CUresult ctx_set_current(CUcontext context) {
  if (context == nullptr) {
    if (!context_stack().empty()) context_stack().pop_back();
    return CUDA_SUCCESS;
  }
  const CUresult pushed = ctx_push_current(context);
  auto& stack = context_stack();
  if (pushed == CUDA_SUCCESS && stack.size() > 1) stack.erase(stack.end() - 2);
  return pushed;
}

CUresult ctx_push_current(CUcontext context) {
  return with_machine([&](Machine& machine) {
    const bool is_held = machine.has(context) &&
                         (context->handle != ContextHandle{} ||
                          machine.primary_holds[static_cast<std::size_t>(context->device)] > 0);
    if (!is_held) return CUDA_ERROR_INVALID_CONTEXT;
    context_stack().push_back(context);
    return CUDA_SUCCESS;
  });
}

CUresult ctx_pop_current(CUcontext* context) {
  return in_current_context([&](Machine&, CUcontext current) {
    *context = current;
    context_stack().pop_back();
    return CUDA_SUCCESS;
  });
}

}  // namespace cairn::simulator
