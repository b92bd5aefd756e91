#include "cairn/errors.h"

#include <cstdlib>
#include <new>
#include <utility>

namespace cairn {

const char* to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::none:
      return "none";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::rejected:
      return "rejected";
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::cuda_error:
      return "cuda_error";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::out_of_host_memory:
      return "out_of_host_memory";
  }
  return "unknown";
}

void throw_error(Error error) {
  switch (error.code) {
    case ErrorCode::out_of_memory:
    case ErrorCode::rejected:  // To the caller both are want of memory, as in PyTorch.
      throw OutOfMemory(std::move(error));
    case ErrorCode::invalid_argument:
      throw InvalidArgument(std::move(error));
    case ErrorCode::cuda_error:
      throw CudaError(std::move(error));
    case ErrorCode::unsupported:
      throw Unsupported(std::move(error));
    case ErrorCode::out_of_host_memory:
      throw std::bad_alloc();
    case ErrorCode::none:
      break;
  }
  std::abort();  // Excluded by contract.
}

}  // namespace cairn
