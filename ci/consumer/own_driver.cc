// An application that brings a Driver of its own: here one that counts addresses up.
#include <cstdint>
#include <cstdio>

#include "cairn/allocator.h"
#include "driver/driver.h"

namespace {

class CountingDriver final : public cairn::Driver {
 public:
  int device_count() const override { return 1; }
  cairn::Bytes total_memory(cairn::DeviceIndex) const override {
    return cairn::Bytes{std::uint64_t{1} << 40};
  }
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

  // Nothing runs on this device, so that all work is done and every stream is of the one context.
  cairn::DriverResult<cairn::EventHandle> event_create(cairn::DeviceIndex,
                                                       cairn::ContextHandle) override {
    return cairn::EventHandle{++events_};
  }
  cairn::DriverResult<cairn::Done> event_record(cairn::StreamRef, cairn::EventHandle) override {
    return cairn::Done{};
  }
  cairn::DriverResult<bool> event_query(cairn::DeviceIndex, cairn::EventHandle) override {
    return true;
  }
  cairn::DriverResult<cairn::Done> event_sync(cairn::DeviceIndex, cairn::EventHandle) override {
    return cairn::Done{};
  }
  cairn::DriverResult<cairn::Done> event_destroy(cairn::DeviceIndex, cairn::EventHandle) override {
    return cairn::Done{};
  }
  cairn::DriverResult<cairn::Done> ctx_record(cairn::DeviceIndex, cairn::EventHandle) override {
    return cairn::Done{};
  }
  cairn::DriverResult<cairn::Done> stream_sync(cairn::StreamRef) override { return cairn::Done{}; }
  cairn::DriverResult<cairn::Done> device_sync(cairn::DeviceIndex) override {
    return cairn::Done{};
  }
  cairn::DriverResult<cairn::ContextHandle> stream_ctx(cairn::StreamRef) override {
    return cairn::ContextHandle{};
  }
  cairn::DriverResult<std::uint64_t> stream_id(cairn::StreamRef stream) override {
    return stream.handle;
  }

 private:
  cairn::Address next_{std::uint64_t{1} << 40};
  std::uint64_t events_ = 0;
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
