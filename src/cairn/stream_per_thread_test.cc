// A file that is compiled for per-thread default streams, for stream_test.cc.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "cairn/allocator.h"
#include "cairn/stream.h"

namespace cairn {

Stream null_per_thread();
Stream default_of_request_per_thread();
Stream other_per_thread(Stream stream);

Stream null_per_thread() { return StreamArgument(nullptr); }
Stream default_of_request_per_thread() { return Request{64}.stream; }
Stream other_per_thread(Stream stream) { return StreamArgument(stream); }

}  // namespace cairn
