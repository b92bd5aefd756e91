#include "preload/report.h"

#include <unistd.h>

#include <string_view>

namespace cairn::preload {
namespace {

std::string number(const std::atomic<std::uint64_t>& count) { return std::to_string(count.load()); }

std::string part(std::string_view call, const std::atomic<std::uint64_t>& served,
                 const std::atomic<std::uint64_t>& all) {
  return std::string(call) + " " + number(served) + " of " + number(all);
}

std::string mebibytes(std::int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

std::string line(const std::string& words) { return "cairn: preload: " + words + "\n"; }

std::string in_words(DeviceService& service) {
  const DeviceStats stats = service.allocator().stats(service.device());
  return line("device " + std::to_string(service.device()) + ": " +
              std::to_string(service.driver().mallocs()) + " driver allocations, " +
              std::to_string(service.driver().frees()) + " given back; at most " +
              mebibytes(stats.allocated_bytes.all.peak) + " handed out of " +
              mebibytes(stats.reserved_bytes.all.peak) + " held");
}

}  // namespace

std::string in_words(const Counts& done, const std::vector<DeviceService*>& services) {
  std::string words =
      line("process " + std::to_string(getpid()) +
           ", calls that Cairn served: " + part("cudaMalloc", done.served_mallocs, done.mallocs) +
           ", " + part("cudaMallocAsync", done.served_mallocs_async, done.mallocs_async) + ", " +
           part("cudaFree", done.served_frees, done.frees) + ", " +
           part("cudaFreeAsync", done.served_frees_async, done.frees_async));
  words += line(number(done.synchronizations) + " synchronisations for frees, " +
                number(done.postponed_frees) + " frees postponed by captures, " +
                number(done.refusals) + " refusals");
  for (DeviceService* service : services) words += in_words(*service);
  return words;
}

std::string nothing_seen() {
  return line("process " + std::to_string(getpid()) +
              ": no cudaMalloc or cudaFree was seen; a runtime that is linked statically, as by "
              "nvcc without -cudart shared, cannot be served");
}

}  // namespace cairn::preload
