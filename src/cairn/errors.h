// What can go wrong, as the caller sees it. The world's failures (out of memory, a driver error)
// and the caller's (a pointer that is not ours) come as one of the exceptions below, or, from a
// function whose name begins with `try_`, as an Error. Our own faults never come here: an invariant
// that does not hold is reported by its id (see invariants/README.md).
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

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
const char* to_string(ErrorCode code) noexcept;

struct Error {
  ErrorCode code = ErrorCode::none;
  int cuda_code = 0;    // The CUresult, where code is cuda_error or out_of_memory; else 0.
  std::string message;  // Names the pointer, size, device or stream, and what to do.

  explicit operator bool() const noexcept { return code != ErrorCode::none; }
};

// Base of all that Cairn throws, beside std::bad_alloc when the host has no memory.
class Exception : public std::runtime_error {
 public:
  explicit Exception(Error error) : std::runtime_error(error.message), error_(std::move(error)) {}
  const Error& error() const noexcept { return error_; }
  ErrorCode code() const noexcept { return error_.code; }

 private:
  Error error_;
};

class OutOfMemory : public Exception {
 public:
  using Exception::Exception;
};
class InvalidArgument : public Exception {
 public:
  using Exception::Exception;
};
class CudaError : public Exception {
 public:
  using Exception::Exception;
};
class Unsupported : public Exception {
 public:
  using Exception::Exception;
};

// Throws the exception that belongs to the error's code. REQUIRES: error.code is not none.
[[noreturn]] void throw_error(Error error);

}  // namespace cairn
