// The values of the C API and of the C++ face, each made from the other.
#pragma once

#include <vector>

#include "cairn/allocator.h"
#include "cairn/cairn.h"

namespace cairn {

// An Error as C sees it, with what its pointers point to. Not thread-safe.
class CFailure {
 public:
  CFailure() = default;
  CFailure(const CFailure&) = delete;
  CFailure& operator=(const CFailure&) = delete;

  // Gives the code of the error; out_of_host_memory where there is no memory for its message.
  cairn_error set(const Error& error) noexcept;
  const cairn_failure& view() const { return failure_; }

 private:
  Error error_;
  std::vector<cairn_process_memory_use> processes_;
  cairn_memory_report memory_{};
  cairn_failure failure_{CAIRN_OK, 0, "", nullptr};
};

Request from_c(const cairn_request& request);
cairn_device_stats as_c(const DeviceStats& stats);
std::vector<cairn_block_info> as_c(const BlockMap& map);

}  // namespace cairn
