// Copies and fills.
#include "simulator/libcudart/runtime.h"
#include "simulator/libcudart/symbols.h"

namespace sim = cairn::simulator::runtime;

namespace {

char* at(void* base, std::size_t offset) { return static_cast<char*>(base) + offset; }
const char* at(const void* base, std::size_t offset) {
  return static_cast<const char*>(base) + offset;
}

CUresult copy(void* to, const void* from, std::size_t size, cudaStream_t stream) {
  return cuMemcpyAsync(sim::address_of(to), sim::address_of(from), size, sim::stream_of(stream));
}

CUresult wait_if(CUresult done, cudaStream_t stream) {
  return done == CUDA_SUCCESS ? cuStreamSynchronize(sim::stream_of(stream)) : done;
}

// Each row by one() until one is refused; gives the last answer.
template <class One>
CUresult each_row(std::size_t rows, One&& one) {
  CUresult done = CUDA_SUCCESS;
  for (std::size_t row = 0; row < rows && done == CUDA_SUCCESS; ++row) done = one(row);
  return done;
}

bool is_kind(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

}  // namespace

// CUDA's own names and parameters.
// NOLINTBEGIN(readability-identifier-naming,readability-function-size)
extern "C" {

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return sim::call_in_context([&] {
    if (!is_kind(kind)) return cudaErrorInvalidMemcpyDirection;
    return sim::error_of(copy(to, from, size, stream));
  });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
  return sim::call_in_context([&] {
    if (!is_kind(kind)) return cudaErrorInvalidMemcpyDirection;
    return sim::error_of(wait_if(copy(to, from, size, nullptr), nullptr));
  });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t size,
                                cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, size, cudaMemcpyDefault, stream);
}

cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t size) {
  return cudaMemcpy(to, from, size, cudaMemcpyDefault);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return sim::call_in_context([&] {
    if (!is_kind(kind)) return cudaErrorInvalidMemcpyDirection;
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    return sim::error_of(each_row(height, [&](std::size_t row) {
      return copy(at(to, row * to_pitch), at(from, row * from_pitch), width, stream);
    }));
  });
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  const cudaError_t copied =
      cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
  return copied == cudaSuccess ? cudaStreamSynchronize(nullptr) : copied;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t count, cudaStream_t stream) {
  return sim::call_in_context([&] {
    return cuMemsetD8Async(sim::address_of(to), static_cast<unsigned char>(value), count,
                           sim::stream_of(stream));
  });
}

cudaError_t cudaMemset(void* to, int value, std::size_t count) {
  return cudaMemsetAsync(to, value, count, nullptr);
}

cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return sim::call_in_context([&] {
    if (width > pitch) return CUDA_ERROR_INVALID_VALUE;
    return each_row(height, [&](std::size_t row) {
      return cuMemsetD8Async(sim::address_of(at(to, row * pitch)),
                             static_cast<unsigned char>(value), width, sim::stream_of(stream));
    });
  });
}

cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return sim::call_in_context([&] {
    if (address == nullptr) return cudaErrorInvalidValue;
    *address = sim::symbol_memory(symbol);
    return *address == nullptr ? cudaErrorInvalidSymbol : cudaSuccess;
  });
}

cudaError_t cudaGetSymbolSize(std::size_t* size, const void* symbol) {
  return sim::call([&] {
    if (size == nullptr) return cudaErrorInvalidValue;
    *size = sim::symbol_size(symbol);
    return *size == 0 ? cudaErrorInvalidSymbol : cudaSuccess;
  });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t size,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  void* memory = nullptr;
  if (const cudaError_t bad = cudaGetSymbolAddress(&memory, symbol)) return bad;
  if (offset + size > sim::symbol_size(symbol)) return sim::remember(cudaErrorInvalidValue);
  return cudaMemcpyAsync(at(memory, offset), from, size, kind, stream);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t size,
                               std::size_t offset, cudaMemcpyKind kind) {
  const cudaError_t copied = cudaMemcpyToSymbolAsync(symbol, from, size, offset, kind, nullptr);
  return copied == cudaSuccess ? cudaStreamSynchronize(nullptr) : copied;
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t size,
                                      std::size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  void* memory = nullptr;
  if (const cudaError_t bad = cudaGetSymbolAddress(&memory, symbol)) return bad;
  if (offset + size > sim::symbol_size(symbol)) return sim::remember(cudaErrorInvalidValue);
  return cudaMemcpyAsync(to, at(memory, offset), size, kind, stream);
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t size, std::size_t offset,
                                 cudaMemcpyKind kind) {
  const cudaError_t copied = cudaMemcpyFromSymbolAsync(to, symbol, size, offset, kind, nullptr);
  return copied == cudaSuccess ? cudaStreamSynchronize(nullptr) : copied;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,readability-function-size)
