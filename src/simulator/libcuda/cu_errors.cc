// Names and words of CUDA's errors.
#include <cuda.h>

namespace {

struct Words {
  CUresult error;
  const char* name;
  const char* text;
};

#define CAIRN_WORDS(error, text) {error, #error, text}
constexpr Words all_words[] = {
    CAIRN_WORDS(CUDA_SUCCESS, "no error"),
    CAIRN_WORDS(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    CAIRN_WORDS(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    CAIRN_WORDS(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    CAIRN_WORDS(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    CAIRN_WORDS(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    CAIRN_WORDS(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    CAIRN_WORDS(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    CAIRN_WORDS(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    CAIRN_WORDS(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    CAIRN_WORDS(CUDA_ERROR_NOT_READY, "device not ready"),
    CAIRN_WORDS(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    CAIRN_WORDS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                "part or all of the requested memory range is already mapped"),
    CAIRN_WORDS(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
                "pointer does not correspond to a registered memory region"),
    CAIRN_WORDS(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    CAIRN_WORDS(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    CAIRN_WORDS(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef CAIRN_WORDS

const Words* words_of(CUresult error) {
  for (const Words& words : all_words) {
    if (words.error == error) return &words;
  }
  return nullptr;
}

}  // namespace

// CUDA's own names.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

CUresult cuGetErrorName(CUresult error, const char** name) {
  const Words* const words = words_of(error);
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = words == nullptr ? nullptr : words->name;
  return words == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  const Words* const words = words_of(error);
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = words == nullptr ? nullptr : words->text;
  return words == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
