// NVML has a header of its own, which a CUDA Toolkit may lack: what is needed of it stands here.
#include "driver/cuda_driver_nvml.h"

#include <dlfcn.h>

namespace cairn {
namespace {

// nvmlProcessInfo_t since its second version.
struct NvmlProcess {
  unsigned int pid;
  unsigned long long used_bytes;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};

constexpr int nvml_success = 0;
constexpr int nvml_insufficient_size = 7;
constexpr unsigned long long nvml_not_available = ~0ull;

struct Nvml {
  int (*init)() = nullptr;
  int (*device_by_pci_bus_id)(const char* pci_bus_id, void** device) = nullptr;
  // `processes` is an array of NvmlProcess with room for `count`, which becomes what there are.
  int (*compute_processes)(void* device, unsigned int* count, void* processes) = nullptr;
  bool is_ready = false;
};

template <class Function>
void find(void* library, const char* name, Function& call) {
  call = reinterpret_cast<Function>(dlsym(library, name));
}

// Stays loaded and initialized for good, as the CUDA driver itself.
Nvml load_nvml() {
  Nvml nvml;
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nvml;
  find(library, "nvmlInit_v2", nvml.init);
  find(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.device_by_pci_bus_id);
  find(library, "nvmlDeviceGetComputeRunningProcesses_v3", nvml.compute_processes);
  nvml.is_ready = nvml.init != nullptr && nvml.device_by_pci_bus_id != nullptr &&
                  nvml.compute_processes != nullptr && nvml.init() == nvml_success;
  return nvml;
}

}  // namespace

std::vector<ProcessMemory> processes_by_nvml(const char* pci_bus_id) {
  static const Nvml nvml = load_nvml();
  void* device = nullptr;
  if (!nvml.is_ready || nvml.device_by_pci_bus_id(pci_bus_id, &device) != nvml_success) return {};
  std::vector<NvmlProcess> found(64);
  int status = nvml_insufficient_size;
  for (int attempts = 0; status == nvml_insufficient_size && attempts < 4; ++attempts) {
    found.resize(found.size() * 2);
    auto count = static_cast<unsigned int>(found.size());
    status = nvml.compute_processes(device, &count, found.data());
    if (status == nvml_success) found.resize(count);
  }
  if (status != nvml_success) return {};
  std::vector<ProcessMemory> processes;
  for (const NvmlProcess& process : found) {
    const bool is_known = process.used_bytes != nvml_not_available;
    processes.push_back({process.pid, Bytes{is_known ? process.used_bytes : 0}});
  }
  return processes;
}

}  // namespace cairn
