// An application that brings a Driver of its own: here one that counts addresses up.
#include <cstdio>

#include "cairn/allocator.h"
#include "driver/driver.h"

namespace {

class CountingDriver final : public cairn::Driver {
 public:
  int device_count() const override { return 1; }
  cairn::DriverResult<cairn::Address> malloc(cairn::DeviceIndex, cairn::Bytes size) override {
    const cairn::Address given = next_;
    next_ = next_ + size;
    return given;
  }
  cairn::DriverResult<cairn::Done> free(cairn::DeviceIndex, cairn::Address) override {
    return cairn::Done{};
  }
  cairn::DriverResult<cairn::MemoryInfo> mem_info(cairn::DeviceIndex) override {
    return cairn::Failure{cairn::CudaStatus::not_supported};
  }

 private:
  cairn::Address next_{std::uint64_t{1} << 40};
};

}  // namespace

int main() {
  CountingDriver driver;
  cairn::Allocator allocator(driver);
  void* const block = allocator.allocate({1 << 20});
  allocator.free(block);
  if (allocator.allocate({1 << 20}) == block && allocator.stats(0).num_device_alloc == 1) return 0;
  std::fprintf(stderr, "freed memory was not handed out again\n");
  return 1;
}
