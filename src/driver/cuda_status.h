// Error codes of the CUDA driver API (CUresult), by value and by name, for code that must not
// include cuda.h. Names are those of cuda.h in lower case without "cuda_error_": "out_of_memory",
// "invalid_value", "illegal_address". "unsupported" is another word for "not_supported".
#pragma once

#include <optional>
#include <string_view>

namespace cairn {

enum class CudaStatus : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  deinitialized = 4,
  invalid_device = 101,
  invalid_handle = 400,
  not_ready = 600,
  illegal_address = 700,
  not_supported = 801,
  unknown = 999,
};

// "out_of_memory"; a code that cuda.h does not have gives "unrecognized".
std::string_view to_string(CudaStatus status);
std::optional<CudaStatus> cuda_status_from(std::string_view name);

// Whether the device is of no more use to the process: cuda.h says so of the code, or it follows
// from what it says (the context or the server is gone, memory or links are broken).
bool is_sticky(CudaStatus status);

}  // namespace cairn
