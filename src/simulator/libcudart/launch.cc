// Kernels, and what objects built by nvcc call to tell of them. A launch is work on its stream that
// takes its time and does nothing.
#include <algorithm>
#include <vector>

#include "simulator/libcudart/runtime.h"
#include "simulator/libcudart/symbols.h"

namespace sim = cairn::simulator::runtime;

namespace {

struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared_memory = 0;
  void* stream = nullptr;
};

std::vector<Configuration>& configurations() {
  static thread_local std::vector<Configuration> pushed;
  return pushed;
}

cudaError_t launch(const void* function, cudaStream_t stream) {
  return sim::call_in_context([&] {
    if (function == nullptr) return cudaErrorInvalidDeviceFunction;
    // The driver takes any function but none.
    CUfunction any = reinterpret_cast<CUfunction>(const_cast<void*>(function));
    return sim::error_of(
        cuLaunchKernel(any, 1, 1, 1, 1, 1, 1, 0, sim::stream_of(stream), nullptr, nullptr));
  });
}

// The handle of every binary: nobody looks behind it.
void* a_binary = nullptr;

}  // namespace

// CUDA's own names and parameters; the private ones are what nvcc's objects expect.
// NOLINTBEGIN(readability-identifier-naming,readability-function-size)
extern "C" {

void** __cudaRegisterFatBinary(void*) { return &a_binary; }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {}
void __cudaRegisterVar(void**, char* variable, char*, const char*, int, std::size_t size, int,
                       int) {
  sim::add_symbol(variable, size);
}
void __cudaRegisterHostVar(void**, const char*, char*, std::size_t) {}
void __cudaRegisterUnifiedTable(void**, void*) {}
// A __managed__ variable: the program reads it through the pointer.
void __cudaRegisterManagedVar(void**, void** variable, char*, const char*, int, std::size_t size,
                              int, int) {
  const void* const symbol = static_cast<void*>(variable);
  sim::add_symbol(symbol, size);
  *variable = sim::symbol_memory(symbol);
}

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_memory,
                                         void* stream) {
  configurations().push_back({grid, block, shared_memory, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_memory,
                                       void* stream) {
  if (configurations().empty()) return sim::remember(cudaErrorMissingConfiguration);
  const Configuration popped = configurations().back();
  configurations().pop_back();
  *grid = popped.grid;
  *block = popped.block;
  *shared_memory = popped.shared_memory;
  *static_cast<void**>(stream) = popped.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  if (kernel == nullptr || function == nullptr) return sim::remember(cudaErrorInvalidValue);
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3, dim3, void**, std::size_t,
                               cudaStream_t stream) {
  return launch(kernel, stream);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3, dim3, void**, std::size_t,
                                    cudaStream_t stream) {
  const sim::PerThreadDefault scope;
  return launch(kernel, stream);
}

cudaError_t cudaLaunchKernel(const void* function, dim3, dim3, void**, std::size_t,
                             cudaStream_t stream) {
  return launch(function, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3, dim3, void**, std::size_t,
                                        cudaStream_t stream) {
  return launch(function, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void**) {
  if (config == nullptr) return sim::remember(cudaErrorInvalidConfiguration);
  return launch(function, config->stream);
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return __cudaGetKernel(kernel, function);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  if (function == nullptr || symbol == nullptr) return sim::remember(cudaErrorInvalidValue);
  *function = reinterpret_cast<cudaFunction_t>(const_cast<void*>(symbol));
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  if (attributes == nullptr) return sim::remember(cudaErrorInvalidValue);
  if (function == nullptr) return sim::remember(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = 90;
  attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = 49152;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute, int) {
  return function == nullptr ? sim::remember(cudaErrorInvalidDeviceFunction) : cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return function == nullptr ? sim::remember(cudaErrorInvalidDeviceFunction) : cudaSuccess;
}

// What the threads and blocks of a multiprocessor alone allow.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int block_size,
                                                          std::size_t) {
  if (blocks == nullptr || block_size <= 0) return sim::remember(cudaErrorInvalidValue);
  constexpr int threads = 2048;
  constexpr int most = 32;
  *blocks = block_size > 1024 ? 0 : std::min(threads / block_size, most);
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int block_size, std::size_t shared_memory, unsigned int) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared_memory);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* size, const void*, int, int) {
  if (size == nullptr) return sim::remember(cudaErrorInvalidValue);
  *size = 49152;
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                             unsigned int version, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* how) {
  return sim::call([&] {
    CUdriverProcAddressQueryResult found{};
    if (name == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult got = cuGetProcAddress(name, function, static_cast<int>(version), flags, &found);
    if (how != nullptr) *how = static_cast<cudaDriverEntryPointQueryResult>(found);
    return got;
  });
}

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* how) {
  const auto version = static_cast<unsigned int>(sim::version);
  return cudaGetDriverEntryPointByVersion(name, function, version, flags, how);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,readability-function-size)
