// The caller's stream: the very type that CUDA calls cudaStream_t and CUstream, so that both can be
// passed as they are and no CUDA header is needed here.
#pragma once

struct CUstream_st;

namespace cairn {

using Stream = CUstream_st*;

}  // namespace cairn
