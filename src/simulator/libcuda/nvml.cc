// The simulated libnvidia-ml.so.1: on the first device CAIRN_SIM_PROCESSES processes (1) have
// memory, the k-th k MiB of it and the number 1000 + k; other devices are unknown.
#include <string_view>

#include "simulator/libcuda/variables.h"

namespace {

using cairn::simulator::value_of;
namespace variables = cairn::simulator::variables;

// nvmlProcessInfo_t since its second version.
struct Process {
  unsigned int pid;
  unsigned long long used_bytes;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};

// The same in its first version.
struct FirstProcess {
  unsigned int pid;
  unsigned long long used_bytes;
};

constexpr int success = 0;
constexpr int uninitialized = 1;
constexpr int invalid_argument = 2;
constexpr int not_found = 6;
constexpr int not_supported = 3;
constexpr int insufficient_size = 7;

bool is_initialized = false;

unsigned int process_count() {
  return static_cast<unsigned int>(value_of(variables::processes).value_or(0));
}

template <class Listed>
int list_processes(const void* device, unsigned int* count, void* processes) {
  if (device != &is_initialized) return not_found;
  const unsigned int room = *count;
  *count = process_count();
  if (*count > room) return insufficient_size;
  auto* listed = static_cast<Listed*>(processes);
  for (unsigned int k = 1; k <= *count; ++k) {
    listed[k - 1] = {};
    listed[k - 1].pid = 1000 + k;
    listed[k - 1].used_bytes = k * 1048576ull;
  }
  return success;
}

}  // namespace

// NVML's own names.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

int nvmlInit_v2();
int nvmlDeviceGetHandleByPciBusId_v2(const char* pci_bus_id, void** device);
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned int* count, void* processes);

int nvmlSystemGetCudaDriverVersion_v2(int* version);
// What PyTorch wants to be there.
int nvmlDeviceGetComputeRunningProcesses(void* device, unsigned int* count, void* processes);
int nvmlDeviceGetNvLinkRemoteDeviceType(void* device, unsigned int link, void* type);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned int link, void* info);
int nvmlDeviceGetGpuFabricInfoV(void* device, void* info);

int nvmlInit_v2() {
  if (!cairn::simulator::are_variables_good()) return invalid_argument;
  is_initialized = true;
  return success;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* pci_bus_id, void** device) {
  if (!is_initialized) return uninitialized;
  // The domain has four digits or eight.
  if (!std::string_view(pci_bus_id).ends_with("0000:01:00.0")) return not_found;
  *device = &is_initialized;
  return success;
}

int nvmlDeviceGetComputeRunningProcesses(void* device, unsigned int* count, void* processes) {
  return list_processes<FirstProcess>(device, count, processes);
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned int* count, void* processes) {
  return list_processes<Process>(device, count, processes);
}

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  const auto known = value_of(variables::cuda_version);
  if (!known) return invalid_argument;
  *version = static_cast<int>(*known);
  return success;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned int, void*) { return not_supported; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned int, void*) { return not_supported; }
int nvmlDeviceGetGpuFabricInfoV(void*, void*) { return not_supported; }

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
