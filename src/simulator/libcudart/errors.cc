// Names and words of the runtime's errors.
#include <cuda_runtime_api.h>

namespace {

struct Words {
  cudaError_t error;
  const char* name;
  const char* text;
};

#define CAIRN_WORDS(error, text) {error, #error, text}
constexpr Words all_words[] = {
    CAIRN_WORDS(cudaSuccess, "no error"),
    CAIRN_WORDS(cudaErrorInvalidValue, "invalid argument"),
    CAIRN_WORDS(cudaErrorMemoryAllocation, "out of memory"),
    CAIRN_WORDS(cudaErrorInitializationError, "initialization error"),
    CAIRN_WORDS(cudaErrorCudartUnloading, "driver shutting down"),
    CAIRN_WORDS(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    CAIRN_WORDS(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    CAIRN_WORDS(cudaErrorInvalidSymbol, "invalid device symbol"),
    CAIRN_WORDS(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    CAIRN_WORDS(cudaErrorInsufficientDriver,
                "CUDA driver version is insufficient for CUDA runtime version"),
    CAIRN_WORDS(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    CAIRN_WORDS(cudaErrorInvalidDeviceFunction, "invalid device function"),
    CAIRN_WORDS(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    CAIRN_WORDS(cudaErrorInvalidDevice, "invalid device ordinal"),
    CAIRN_WORDS(cudaErrorDeviceUninitialized, "invalid device context"),
    CAIRN_WORDS(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    CAIRN_WORDS(cudaErrorSymbolNotFound, "named symbol not found"),
    CAIRN_WORDS(cudaErrorNotReady, "device not ready"),
    CAIRN_WORDS(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    CAIRN_WORDS(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    CAIRN_WORDS(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    CAIRN_WORDS(cudaErrorAssert, "device-side assert triggered"),
    CAIRN_WORDS(cudaErrorHostMemoryAlreadyRegistered,
                "part or all of the requested memory range is already mapped"),
    CAIRN_WORDS(cudaErrorHostMemoryNotRegistered,
                "pointer does not correspond to a registered memory region"),
    CAIRN_WORDS(cudaErrorMisalignedAddress, "misaligned address"),
    CAIRN_WORDS(cudaErrorLaunchFailure, "unspecified launch failure"),
    CAIRN_WORDS(cudaErrorNotSupported, "operation not supported"),
    CAIRN_WORDS(cudaErrorStreamCaptureUnsupported,
                "operation not permitted when stream is capturing"),
    CAIRN_WORDS(cudaErrorUnknown, "unknown error"),
};
#undef CAIRN_WORDS

const Words* words_of(cudaError_t error) {
  for (const Words& words : all_words) {
    if (words.error == error) return &words;
  }
  return nullptr;
}

}  // namespace

// CUDA's own names.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  const Words* const words = words_of(error);
  return words == nullptr ? "unrecognized error code" : words->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const Words* const words = words_of(error);
  return words == nullptr ? "unrecognized error code" : words->text;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
