#include "c_api/c_convert.h"

#include <new>

namespace cairn {
namespace {

constexpr bool mirrors(ErrorCode code, cairn_error error) {
  return static_cast<int>(code) == error;
}
static_assert(mirrors(ErrorCode::none, CAIRN_OK));
static_assert(mirrors(ErrorCode::out_of_memory, CAIRN_OUT_OF_MEMORY));
static_assert(mirrors(ErrorCode::rejected, CAIRN_REJECTED));
static_assert(mirrors(ErrorCode::invalid_argument, CAIRN_INVALID_ARGUMENT));
static_assert(mirrors(ErrorCode::cuda_error, CAIRN_CUDA_ERROR));
static_assert(mirrors(ErrorCode::unsupported, CAIRN_UNSUPPORTED));
static_assert(mirrors(ErrorCode::out_of_host_memory, CAIRN_OUT_OF_HOST_MEMORY));

static_assert(static_cast<int>(BlockState::active_allocated) == CAIRN_ACTIVE_ALLOCATED);
static_assert(static_cast<int>(BlockState::active_pending_free) == CAIRN_ACTIVE_PENDING_FREE);
static_assert(static_cast<int>(BlockState::inactive) == CAIRN_INACTIVE);

static_assert(CAIRN_BLOCK_DEVICE == Allocator::block_device);

std::vector<cairn_process_memory_use> processes_of(const Error& error) {
  std::vector<cairn_process_memory_use> processes;
  if (error.memory == nullptr) return processes;
  for (const ProcessMemoryUse& process : error.memory->processes)
    processes.push_back({process.pid, process.used_bytes});
  return processes;
}

cairn_memory_report as_c(const MemoryReport& report,
                         const std::vector<cairn_process_memory_use>& processes) {
  return {report.device,
          report.requested_bytes,
          report.tried_bytes,
          report.total_bytes.value_or(CAIRN_NO_NUMBER),
          report.free_bytes.value_or(CAIRN_NO_NUMBER),
          report.limit_bytes.value_or(CAIRN_NO_NUMBER),
          report.allocated_bytes,
          report.private_bytes,
          report.unallocated_bytes,
          report.pending_bytes,
          processes.empty() ? nullptr : processes.data(),
          processes.size()};
}

cairn_stat as_c(const Stat& stat) { return {stat.current, stat.peak, stat.allocated, stat.freed}; }

cairn_stat_array as_c(const StatArray& stats) {
  return {as_c(stats.all), as_c(stats.small_pool), as_c(stats.large_pool)};
}

cairn_block_info as_c(const SegmentInfo& segment, const BlockInfo& block) {
  return {segment.address,
          segment.size_bytes,
          segment.stream,
          segment.is_large,
          block.address,
          block.size_bytes,
          block.requested_size_bytes,
          static_cast<cairn_block_state>(block.state)};
}

}  // namespace

cairn_error CFailure::set(const Error& error) noexcept {
  try {
    processes_ = processes_of(error);
    error_ = error;
  } catch (const std::bad_alloc&) {
    error_ = Error{ErrorCode::out_of_host_memory, 0, {}};
  }
  failure_ = {static_cast<cairn_error>(error_.code), error_.cuda_code, error_.message.c_str(),
              nullptr};
  if (error_.code == ErrorCode::out_of_host_memory) {
    failure_.message = "The host has no memory left for what Cairn keeps about blocks";
  }
  if (error_.memory != nullptr) {
    memory_ = as_c(*error_.memory, processes_);
    failure_.memory = &memory_;
  }
  return failure_.code;
}

Request from_c(const cairn_request& request) {
  Request made{request.size_bytes, request.device, request.stream};
  if (request.alignment_bytes != 0) made.alignment_bytes = request.alignment_bytes;
  return made;
}

cairn_device_stats as_c(const DeviceStats& stats) {
  return {as_c(stats.allocation),
          as_c(stats.segment),
          as_c(stats.active),
          as_c(stats.inactive_split),
          as_c(stats.allocated_bytes),
          as_c(stats.reserved_bytes),
          as_c(stats.active_bytes),
          as_c(stats.inactive_split_bytes),
          as_c(stats.requested_bytes),
          as_c(stats.oversize_allocations),
          as_c(stats.oversize_segments),
          stats.num_alloc_retries,
          stats.num_ooms,
          stats.num_oom_rejections,
          stats.num_sync_all_streams,
          stats.num_device_alloc,
          stats.num_device_free,
          stats.max_split_size_bytes};
}

std::vector<cairn_block_info> as_c(const BlockMap& map) {
  std::vector<cairn_block_info> blocks;
  for (const SegmentInfo& segment : map) {
    for (const BlockInfo& block : segment.blocks) blocks.push_back(as_c(segment, block));
  }
  return blocks;
}

}  // namespace cairn
