#include "allocator/memory_report.h"

#include <unistd.h>

#include <memory>
#include <utility>

#include "allocator/error_text.h"
#include "invariants/catalogue/hook.h"

namespace cairn {
namespace {

std::uint64_t current(const Stat& bytes) { return static_cast<std::uint64_t>(bytes.current); }

MemoryReport report_of(const DeviceState& state, const HeapRequest& request) {
  const DeviceStats stats = state.heap.ledger().read();
  MemoryReport report;
  report.device = state.device();
  report.requested_bytes = request.requested.count;
  report.tried_bytes = state.heap.segment_size(request).count;
  if (state.limit) report.limit_bytes = state.limit->count;
  report.allocated_bytes = current(stats.allocated_bytes.all);
  report.unallocated_bytes = current(stats.reserved_bytes.all) - report.allocated_bytes;
  report.pending_bytes = current(stats.active_bytes.all) - report.allocated_bytes;
  return report;
}

std::string in_words(std::uint64_t bytes) { return cairn::in_words(Bytes{bytes}); }

std::string beginning(const MemoryReport& report, StreamId stream) {
  return "CUDA out of memory. Tried to allocate " + in_words(report.tried_bytes) +
         " for a request of " + std::to_string(report.requested_bytes) + " bytes (" +
         stream_in_words(stream) + "). ";
}

std::string words_of_device(const MemoryReport& report) {
  std::string words = "GPU " + std::to_string(report.device);
  if (report.total_bytes) {
    words += " has a total capacity of " + in_words(*report.total_bytes);
    if (report.free_bytes) words += " of which " + in_words(*report.free_bytes) + " is free";
  } else {
    CAIRN_PROBE("out_of_memory.mem_info_failed");
    words += " does not say how much memory it has";
  }
  words += ". ";
  for (const ProcessMemoryUse& process : report.processes) {
    const bool is_own = process.pid == static_cast<std::uint32_t>(getpid());
    words += is_own ? "Including non-Cairn memory, this process has "
                    : "Process " + std::to_string(process.pid) + " has ";
    words += in_words(process.used_bytes) + " in use. ";
  }
  return words;
}

std::string words_of_allocator(const MemoryReport& report) {
  std::string words;
  if (report.limit_bytes)
    words += in_words(*report.limit_bytes) + " allowed by the memory fraction. ";
  words += "Of the " + in_words(report.reserved_bytes()) + " that Cairn holds, " +
           in_words(report.allocated_bytes) + " is allocated";
  if (report.private_bytes > 0)
    words += ", " + in_words(report.private_bytes) + " is free in private pools";
  words += ", and " + in_words(report.unallocated_bytes) + " is reserved but unallocated";
  if (report.pending_bytes > 0)
    words += " (" + in_words(report.pending_bytes) + " of it waits for other streams)";
  return words + ".";
}

std::string advice(const MemoryReport& report) {
  if (report.unallocated_bytes == 0) return "";
  return " What is reserved but unallocated lies between live blocks, or belongs to other streams; "
         "if it is much, max_split_size_mb may reduce fragmentation.";
}

Error with(MemoryReport report, ErrorCode code, std::string message) {
  const CudaStatus status =
      code == ErrorCode::out_of_memory ? CudaStatus::out_of_memory : CudaStatus::success;
  Error error{code, static_cast<int>(status), std::move(message)};
  error.memory = std::make_shared<const MemoryReport>(std::move(report));
  return error;
}

}  // namespace

Error out_of_memory(DeviceState& state, const HeapRequest& request, Driver& driver,
                    const std::string& complaints) {
  const auto memory = state.noted(driver.mem_info(state.device()));
  if (state.lost) {
    CAIRN_PROBE("out_of_memory.lost");
    return cuda_error(DriverCall::mem_info, "the device's memory", state.device(), memory.error());
  }
  state.heap.ledger().ran_out_of_memory();
  MemoryReport report = report_of(state, request);
  if (memory) {
    report.total_bytes = memory->total.count;
    report.free_bytes = memory->free.count;
  }
  for (const ProcessMemory& process : driver.processes(state.device())) {
    report.processes.push_back({process.pid, process.used.count});
  }
  std::string message = beginning(report, request.stream) + words_of_device(report) +
                        words_of_allocator(report) + advice(report) + complaints;
  return with(std::move(report), ErrorCode::out_of_memory, std::move(message));
}

Error rejected(DeviceState& state, const HeapRequest& request, const Driver& driver,
               const std::string& complaints) {
  MemoryReport report = report_of(state, request);
  report.total_bytes = driver.total_memory(state.device()).count;
  std::string message = beginning(report, request.stream) +
                        "It was rejected before the driver was asked (throw_on_cudamalloc_oom): "
                        "it would exceed the " +
                        in_words(state.rejected_above.count) +
                        " that per_process_memory_fraction allows. " + words_of_device(report) +
                        words_of_allocator(report) + complaints;
  return with(std::move(report), ErrorCode::rejected, std::move(message));
}

}  // namespace cairn
