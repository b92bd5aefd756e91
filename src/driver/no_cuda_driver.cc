// Stands in for cuda_driver.cc where Cairn is built without a CUDA Toolkit.
#include "driver/cuda_driver.h"

namespace cairn {

Result<std::unique_ptr<Driver>, Error> open_cuda_driver() {
  return Failure{Error{ErrorCode::unsupported, 0,
                       "This build of Cairn has no CUDA driver: it was built without the CUDA "
                       "Toolkit. Install the toolkit and build again (CMake: -DCAIRN_CUDA=ON)",
                       nullptr}};
}

}  // namespace cairn
