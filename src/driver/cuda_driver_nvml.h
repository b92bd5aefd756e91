// What NVML, the library behind nvidia-smi, says of a device.
#pragma once

#include <vector>

#include "driver/driver.h"

namespace cairn {

// The processes that compute on the device at that PCI address ("0000:1B:00.0"), and the memory
// that each has of it; 0 bytes where NVML does not say. Empty where there is no NVML or it refuses.
// Can be called from any thread.
std::vector<ProcessMemory> processes_by_nvml(const char* pci_bus_id);

}  // namespace cairn
