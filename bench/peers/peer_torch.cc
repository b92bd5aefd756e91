// PyTorch's own allocator: that of its wheel's libc10_cuda.so, called as PyTorch's C++ calls it,
// with no Python in it. Its settings are those of the environment.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include "bench/peers/peer.h"

// In no header: libtorch_cuda.so, which is not here, says by it how to ask for a primary context.
namespace c10::cuda::_internal {
C10_CUDA_API void setHasPrimaryContext(bool (*has)(DeviceIndex));
}

namespace cairn::bench::peers {
namespace {

namespace torch_allocator = c10::cuda::CUDACachingAllocator;

// Once in a process.
bool make_ready() {
  c10::cuda::_internal::setHasPrimaryContext([](c10::DeviceIndex) { return true; });
  torch_allocator::init(c10::cuda::device_count());
  return true;
}

class TorchPeer {
 public:
  static constexpr const char* name = "torch";

  explicit TorchPeer(const std::vector<cudaStream_t>& streams) : streams_(streams) {
    static const bool is_ready = make_ready();
    static_cast<void>(is_ready);
    for (cudaStream_t stream : streams) {
      as_torch_names_them_.push_back(c10::cuda::getStreamFromExternal(stream, 0));
    }
  }
  ~TorchPeer() { torch_allocator::emptyCache(); }
  TorchPeer(const TorchPeer&) = delete;
  TorchPeer& operator=(const TorchPeer&) = delete;

  void* allocate(const Step& step) {
    return torch_allocator::raw_alloc_with_stream(step.size_bytes, streams_[step.stream]);
  }
  void free(void* pointer, const Step&) { torch_allocator::raw_delete(pointer); }
  void use(void* pointer, const Step& step) {
    c10::DataPtr owned(pointer, pointer, deleter_, c10::Device(c10::kCUDA, 0));
    torch_allocator::recordStream(owned, as_torch_names_them_[step.stream]);
    static_cast<void>(owned.release_context());
  }

 private:
  const std::vector<cudaStream_t>& streams_;
  std::vector<c10::cuda::CUDAStream> as_torch_names_them_;
  c10::DeleterFnPtr deleter_ = torch_allocator::get()->raw_deleter();
};

}  // namespace
}  // namespace cairn::bench::peers

int main(int argc, char** argv) {
  return cairn::bench::peers::run_peer<cairn::bench::peers::TorchPeer>(argc, argv);
}
