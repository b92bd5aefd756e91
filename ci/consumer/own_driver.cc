// An application that brings a Driver of its own: here one that counts addresses up, and whose work
// is done as soon as it is there. With real work, events and streams have to be real too.
#include <cstdint>
#include <cstdio>

#include "cairn/allocator.h"
#include "driver/driver.h"

namespace {

using cairn::Address;
using cairn::Bytes;
using cairn::ContextHandle;
using cairn::DeviceIndex;
using cairn::Done;
using cairn::DriverResult;
using cairn::EventHandle;
using cairn::StreamRef;

class CountingDriver final : public cairn::Driver {
 public:
  int device_count() const override { return 1; }
  Bytes total_memory(DeviceIndex) const override { return Bytes{std::uint64_t{1} << 40}; }

  DriverResult<Address> malloc(DeviceIndex, Bytes size) override {
    const Address given = next_;
    next_ = next_ + size;
    return given;
  }
  DriverResult<Done> free(DeviceIndex, Address) override { return Done{}; }
  DriverResult<cairn::MemoryInfo> mem_info(DeviceIndex) override {
    return cairn::Failure{cairn::CudaStatus::not_supported};
  }

  DriverResult<EventHandle> event_create(DeviceIndex, ContextHandle) override {
    return EventHandle{++events_};
  }
  DriverResult<Done> event_record(StreamRef, EventHandle) override { return Done{}; }
  DriverResult<bool> event_query(DeviceIndex, EventHandle) override { return true; }
  DriverResult<Done> event_sync(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> event_destroy(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> ctx_record(DeviceIndex, EventHandle) override { return Done{}; }

  DriverResult<Done> stream_sync(StreamRef) override { return Done{}; }
  DriverResult<Done> device_sync(DeviceIndex) override { return Done{}; }
  DriverResult<ContextHandle> stream_ctx(StreamRef) override { return ContextHandle{}; }
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override { return stream.handle; }

 private:
  Address next_{std::uint64_t{1} << 40};
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
