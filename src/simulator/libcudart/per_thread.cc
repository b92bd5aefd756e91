// The calls whose stream 0 is the thread's own, for programs compiled with
// CUDA_API_PER_THREAD_DEFAULT_STREAM: _ptsz where a stream is a parameter, _ptds where none is.
#include "simulator/libcudart/runtime.h"

#define CAIRN_PER_THREAD(call, suffix, parameters, arguments) \
  cudaError_t call##suffix parameters {                       \
    const cairn::simulator::runtime::PerThreadDefault scope;  \
    return call arguments;                                    \
  }

// CUDA's own names and parameters.
// NOLINTBEGIN(readability-identifier-naming,readability-function-size)
extern "C" {

CAIRN_PER_THREAD(cudaStreamSynchronize, _ptsz, (cudaStream_t s), (s))
CAIRN_PER_THREAD(cudaStreamQuery, _ptsz, (cudaStream_t s), (s))
CAIRN_PER_THREAD(cudaStreamWaitEvent, _ptsz, (cudaStream_t s, cudaEvent_t e, unsigned f), (s, e, f))
CAIRN_PER_THREAD(cudaStreamGetPriority, _ptsz, (cudaStream_t s, int* p), (s, p))
CAIRN_PER_THREAD(cudaStreamGetFlags, _ptsz, (cudaStream_t s, unsigned* f), (s, f))
CAIRN_PER_THREAD(cudaStreamGetId, _ptsz, (cudaStream_t s, unsigned long long* id), (s, id))
CAIRN_PER_THREAD(cudaStreamGetDevice, _ptsz, (cudaStream_t s, int* d), (s, d))
CAIRN_PER_THREAD(cudaStreamIsCapturing, _ptsz, (cudaStream_t s, cudaStreamCaptureStatus* c), (s, c))
CAIRN_PER_THREAD(cudaLaunchHostFunc, _ptsz, (cudaStream_t s, cudaHostFn_t f, void* d), (s, f, d))
CAIRN_PER_THREAD(cudaStreamAddCallback, _ptsz,
                 (cudaStream_t s, cudaStreamCallback_t c, void* d, unsigned f), (s, c, d, f))
CAIRN_PER_THREAD(cudaEventRecord, _ptsz, (cudaEvent_t e, cudaStream_t s), (e, s))
CAIRN_PER_THREAD(cudaEventRecordWithFlags, _ptsz, (cudaEvent_t e, cudaStream_t s, unsigned f),
                 (e, s, f))

CAIRN_PER_THREAD(cudaMallocAsync, _ptsz, (void** p, std::size_t n, cudaStream_t s), (p, n, s))
CAIRN_PER_THREAD(cudaFreeAsync, _ptsz, (void* p, cudaStream_t s), (p, s))
CAIRN_PER_THREAD(cudaMallocFromPoolAsync, _ptsz,
                 (void** p, std::size_t n, cudaMemPool_t pool, cudaStream_t s), (p, n, pool, s))
CAIRN_PER_THREAD(cudaMemcpyAsync, _ptsz,
                 (void* to, const void* from, std::size_t n, cudaMemcpyKind k, cudaStream_t s),
                 (to, from, n, k, s))
CAIRN_PER_THREAD(cudaMemcpy, _ptds, (void* to, const void* from, std::size_t n, cudaMemcpyKind k),
                 (to, from, n, k))
CAIRN_PER_THREAD(cudaMemcpy2DAsync, _ptsz,
                 (void* to, std::size_t tp, const void* from, std::size_t fp, std::size_t w,
                  std::size_t h, cudaMemcpyKind k, cudaStream_t s),
                 (to, tp, from, fp, w, h, k, s))
CAIRN_PER_THREAD(cudaMemcpy2D, _ptds,
                 (void* to, std::size_t tp, const void* from, std::size_t fp, std::size_t w,
                  std::size_t h, cudaMemcpyKind k),
                 (to, tp, from, fp, w, h, k))
CAIRN_PER_THREAD(cudaMemsetAsync, _ptsz, (void* to, int v, std::size_t n, cudaStream_t s),
                 (to, v, n, s))
CAIRN_PER_THREAD(cudaMemset, _ptds, (void* to, int v, std::size_t n), (to, v, n))
CAIRN_PER_THREAD(cudaMemset2DAsync, _ptsz,
                 (void* to, std::size_t p, int v, std::size_t w, std::size_t h, cudaStream_t s),
                 (to, p, v, w, h, s))
CAIRN_PER_THREAD(cudaMemset2D, _ptds,
                 (void* to, std::size_t p, int v, std::size_t w, std::size_t h), (to, p, v, w, h))
CAIRN_PER_THREAD(cudaMemcpyToSymbolAsync, _ptsz,
                 (const void* to, const void* from, std::size_t n, std::size_t o, cudaMemcpyKind k,
                  cudaStream_t s),
                 (to, from, n, o, k, s))
CAIRN_PER_THREAD(cudaMemcpyToSymbol, _ptds,
                 (const void* to, const void* from, std::size_t n, std::size_t o, cudaMemcpyKind k),
                 (to, from, n, o, k))
CAIRN_PER_THREAD(cudaMemcpyFromSymbolAsync, _ptsz,
                 (void* to, const void* from, std::size_t n, std::size_t o, cudaMemcpyKind k,
                  cudaStream_t s),
                 (to, from, n, o, k, s))
CAIRN_PER_THREAD(cudaMemcpyFromSymbol, _ptds,
                 (void* to, const void* from, std::size_t n, std::size_t o, cudaMemcpyKind k),
                 (to, from, n, o, k))

CAIRN_PER_THREAD(cudaLaunchKernel, _ptsz,
                 (const void* f, dim3 g, dim3 b, void** a, std::size_t m, cudaStream_t s),
                 (f, g, b, a, m, s))
CAIRN_PER_THREAD(cudaLaunchCooperativeKernel, _ptsz,
                 (const void* f, dim3 g, dim3 b, void** a, std::size_t m, cudaStream_t s),
                 (f, g, b, a, m, s))
CAIRN_PER_THREAD(cudaLaunchKernelExC, _ptsz, (const cudaLaunchConfig_t* c, const void* f, void** a),
                 (c, f, a))

}  // extern "C"
// NOLINTEND(readability-identifier-naming,readability-function-size)
