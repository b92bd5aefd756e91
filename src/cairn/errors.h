// What can go wrong, as the caller sees it. The world's failures (out of memory, a driver error)
// and the caller's (a pointer that is not ours) come as one of the exceptions below, or, from a
// function whose name begins with `try_`, as an Error. Our own faults never come here: an invariant
// that does not hold is reported by its id (see invariants/README.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cairn/export.h"

namespace cairn {

enum class ErrorCode {
  none,
  out_of_memory,      // The device has no memory left, after all that is cached was tried.
  rejected,           // Refused before the driver was asked, by throw_on_cudamalloc_oom.
  invalid_argument,   // The caller's mistake; nothing has changed.
  cuda_error,         // The CUDA driver failed with anything but out of memory.
  unsupported,        // This build, this driver or this device cannot do it.
  out_of_host_memory  // std::bad_alloc, where it may not be thrown; the message is empty.
};

// The code in words, as Programs write it: "out_of_memory", "invalid_argument", ...
CAIRN_EXPORT const char* to_string(ErrorCode code) noexcept;

// What a process has of a device's memory, as NVML says.
struct ProcessMemoryUse {
  std::uint32_t pid = 0;
  std::uint64_t used_bytes = 0;
};

// The quantities of an out-of-memory, or of a rejection, as they were when the request failed. They
// add up: allocated_bytes + private_bytes + unallocated_bytes is what the allocator holds of the
// device.
struct MemoryReport {
  int device = 0;
  std::uint64_t requested_bytes = 0;  // What the caller asked for.
  std::uint64_t tried_bytes = 0;      // The segment that would have been needed for it.
  // What the driver says of the device, all processes together; none where it did not answer. For a
  // rejection it is not asked, and the total alone is known.
  std::optional<std::uint64_t> total_bytes;
  std::optional<std::uint64_t> free_bytes;
  std::optional<std::uint64_t> limit_bytes;  // What this allocator may hold, if that is limited.
  std::uint64_t allocated_bytes = 0;         // Of blocks that are handed out.
  std::uint64_t private_bytes = 0;           // Free in private pools.
  std::uint64_t unallocated_bytes = 0;       // Reserved, but neither of these.
  std::uint64_t pending_bytes = 0;           // Of unallocated_bytes: freed, waits for events.
  std::vector<ProcessMemoryUse> processes;   // Empty where it is not known.

  std::uint64_t reserved_bytes() const {
    return allocated_bytes + private_bytes + unallocated_bytes;
  }
};

struct Error {
  ErrorCode code = ErrorCode::none;
  int cuda_code = 0;    // The CUresult, where code is cuda_error or out_of_memory; else 0.
  std::string message;  // Names the pointer, size, device or stream, and what to do.
  // The quantities, where code is rejected, or out_of_memory of a request below 2^60 bytes.
  std::shared_ptr<const MemoryReport> memory = nullptr;

  explicit operator bool() const noexcept { return code != ErrorCode::none; }
};

// Base of all that Cairn throws, beside std::bad_alloc when the host has no memory.
class CAIRN_EXPORT Exception : public std::runtime_error {
 public:
  explicit Exception(Error error) : std::runtime_error(error.message), error_(std::move(error)) {}
  const Error& error() const noexcept { return error_; }
  ErrorCode code() const noexcept { return error_.code; }

 private:
  Error error_;
};

class CAIRN_EXPORT OutOfMemory : public Exception {
 public:
  using Exception::Exception;
};
class CAIRN_EXPORT InvalidArgument : public Exception {
 public:
  using Exception::Exception;
};
class CAIRN_EXPORT CudaError : public Exception {
 public:
  using Exception::Exception;
};
class CAIRN_EXPORT Unsupported : public Exception {
 public:
  using Exception::Exception;
};

// Throws the exception that belongs to the error's code. REQUIRES: error.code is not none.
[[noreturn]] CAIRN_EXPORT void throw_error(Error error);

}  // namespace cairn
