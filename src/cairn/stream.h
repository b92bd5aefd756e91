// The caller's stream: the very type that CUDA calls cudaStream_t and CUstream, so that both can be
// passed as they are and no CUDA header is needed here.
#pragma once

struct CUstream_st;

namespace cairn {

using Stream = CUstream_st*;

// A stream where one is asked for. Null means what it means to CUDA in the file that passes it: the
// legacy default stream, or, where the file is compiled for per-thread default streams (nvcc
// --default-stream per-thread, CUDA_API_PER_THREAD_DEFAULT_STREAM), that of the calling thread.
class StreamArgument {
 public:
  // Always inlined, so that no two files share it.
  [[gnu::always_inline]] StreamArgument(Stream stream = nullptr) noexcept  // NOLINT
      : stream_(stream) {
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)
    if (stream == nullptr) stream_ = reinterpret_cast<Stream>(2);  // cudaStreamPerThread
#endif
  }
  [[gnu::always_inline]] operator Stream() const noexcept { return stream_; }  // NOLINT

 private:
  Stream stream_;
};

}  // namespace cairn
