// What the library did, counted; and what is said of it in words, on stderr.
//
// Thread safety: all.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "preload/device_service.h"

namespace cairn::preload {

struct Counts {
  std::atomic<std::uint64_t> mallocs{0};  // cudaMalloc: all, and those that Cairn served.
  std::atomic<std::uint64_t> served_mallocs{0};
  std::atomic<std::uint64_t> mallocs_async{0};
  std::atomic<std::uint64_t> served_mallocs_async{0};
  std::atomic<std::uint64_t> frees{0};  // cudaFree of a pointer: all, and those of Cairn's blocks.
  std::atomic<std::uint64_t> served_frees{0};
  std::atomic<std::uint64_t> frees_async{0};
  std::atomic<std::uint64_t> served_frees_async{0};
  std::atomic<std::uint64_t> synchronizations{0};  // Of a device, for a free.
  std::atomic<std::uint64_t> postponed_frees{0};   // Until captures had ended.
  std::atomic<std::uint64_t> refusals{0};          // Of addresses that nobody holds, and of IPC.
};

inline constinit Counts counts;

// The report of the process: what was counted, and the state of these.
std::string in_words(const Counts& done, const std::vector<DeviceService*>& services);
// The report of a process that uses CUDA, and made none of the calls that are counted.
std::string nothing_seen();

}  // namespace cairn::preload
