#include "driver/cuda_driver.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "driver/cuda_driver_api.h"
#include "driver/cuda_driver_nvml.h"

namespace cairn {
namespace {

Failure<CudaStatus> failure(CUresult status) { return Failure{static_cast<CudaStatus>(status)}; }

DriverResult<Done> done_if(CUresult status) {
  if (status != CUDA_SUCCESS) return failure(status);
  return Done{};
}

template <class T>
T* pointer_from(std::uint64_t value) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(value));
}

std::uint64_t value_of(const void* pointer) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

CUevent cuda_event(EventHandle event) { return pointer_from<CUevent_st>(event.value); }

// The handles 1 and 2 have CUDA's own meaning; 0 is said as 1, which means the legacy stream
// however CUDA's headers were compiled.
CUstream cuda_stream(StreamRef stream) {
  return stream.handle == 0 ? CU_STREAM_LEGACY : pointer_from<CUstream_st>(stream.handle);
}

class CudaDriver final : public Driver {
 public:
  explicit CudaDriver(const CudaApi& api) : api_(api) {}
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;
  ~CudaDriver() override;

  // For open_cuda_driver(), before anybody else has the driver.
  CUresult add_device(int ordinal);

  int device_count() const override { return static_cast<int>(devices_.size()); }
  Bytes total_memory(DeviceIndex device) const override { return at(device).memory; }
  std::vector<ProcessMemory> processes(DeviceIndex device) const override;

  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override;
  DriverResult<Done> free(DeviceIndex device, Address address) override;
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) override;
  DriverResult<EventHandle> event_create(DeviceIndex device, ContextHandle context) override;
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override;
  DriverResult<bool> event_query(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> event_sync(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> event_destroy(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> ctx_record(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> stream_sync(StreamRef stream) override;
  DriverResult<Done> device_sync(DeviceIndex device) override;
  DriverResult<ContextHandle> stream_ctx(StreamRef stream) override;
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override;

 private:
  struct Device {
    CUdevice id = 0;
    Bytes memory;
    std::mutex mutex;                         // Held while the primary context is taken hold of.
    std::atomic<CUcontext> primary{nullptr};  // Null until it is.
  };

  bool exists(DeviceIndex device) const { return 0 <= device && device < device_count(); }
  const Device& at(DeviceIndex device) const { return devices_[static_cast<std::size_t>(device)]; }

  // Gives the device's primary context to `context`, and takes hold of it if nobody has yet.
  CUresult find_primary(DeviceIndex device, CUcontext& context);
  // What act() gives with `context` current. The thread's current context is then as before.
  template <class Act>
  CUresult in_context(CUcontext context, Act&& act) const;
  // The same with the device's primary context. Most calls want some context to be current; which,
  // matters to those that get none otherwise: memory, and the default streams.
  template <class Act>
  CUresult in_primary(DeviceIndex device, Act&& act);

  CudaApi api_;
  std::deque<Device> devices_;
};

CudaDriver::~CudaDriver() {
  for (Device& device : devices_) {
    // At the end of the process the driver may be gone already, and says so; there is nothing to do
    // then.
    if (device.primary.load() != nullptr) api_.primary_ctx_release(device.id);
  }
}

CUresult CudaDriver::add_device(int ordinal) {
  Device& device = devices_.emplace_back();
  const CUresult status = api_.device_get(&device.id, ordinal);
  if (status != CUDA_SUCCESS) return status;
  std::size_t bytes = 0;
  const CUresult asked = api_.device_total_mem(&bytes, device.id);
  device.memory = Bytes{bytes};
  return asked;
}

CUresult CudaDriver::find_primary(DeviceIndex index, CUcontext& context) {
  if (!exists(index)) return CUDA_ERROR_INVALID_DEVICE;
  Device& device = devices_[static_cast<std::size_t>(index)];
  context = device.primary.load(std::memory_order_acquire);
  if (context != nullptr) return CUDA_SUCCESS;
  const std::lock_guard lock(device.mutex);
  context = device.primary.load(std::memory_order_relaxed);
  if (context != nullptr) return CUDA_SUCCESS;
  const CUresult status = api_.primary_ctx_retain(&context, device.id);
  if (status == CUDA_SUCCESS) device.primary.store(context, std::memory_order_release);
  return status;
}

template <class Act>
CUresult CudaDriver::in_context(CUcontext context, Act&& act) const {
  CUcontext current = nullptr;
  if (const CUresult status = api_.ctx_get_current(&current); status != CUDA_SUCCESS) return status;
  if (current == context) return act();
  if (const CUresult status = api_.ctx_push_current(context); status != CUDA_SUCCESS) return status;
  const CUresult status = act();
  CUcontext popped = nullptr;
  api_.ctx_pop_current(&popped);
  return status;
}

template <class Act>
CUresult CudaDriver::in_primary(DeviceIndex device, Act&& act) {
  CUcontext primary = nullptr;
  if (const CUresult status = find_primary(device, primary); status != CUDA_SUCCESS) return status;
  return in_context(primary, std::forward<Act>(act));
}

std::vector<ProcessMemory> CudaDriver::processes(DeviceIndex device) const {
  std::array<char, 32> pci_bus_id{};
  const CUresult status = api_.device_get_pci_bus_id(
      pci_bus_id.data(), static_cast<int>(pci_bus_id.size()), at(device).id);
  if (status != CUDA_SUCCESS) return {};
  return processes_by_nvml(pci_bus_id.data());
}

DriverResult<Address> CudaDriver::malloc(DeviceIndex device, Bytes size) {
  CUdeviceptr address = 0;
  const CUresult status = in_primary(device, [&] { return api_.mem_alloc(&address, size.count); });
  if (status != CUDA_SUCCESS) return failure(status);
  return Address{address};
}

DriverResult<Done> CudaDriver::free(DeviceIndex device, Address address) {
  return done_if(in_primary(device, [&] { return api_.mem_free(address.value); }));
}

DriverResult<MemoryInfo> CudaDriver::mem_info(DeviceIndex device) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  const CUresult status =
      in_primary(device, [&] { return api_.mem_get_info(&free_bytes, &total_bytes); });
  if (status != CUDA_SUCCESS) return failure(status);
  return MemoryInfo{Bytes{free_bytes}, Bytes{total_bytes}};
}

DriverResult<EventHandle> CudaDriver::event_create(DeviceIndex device, ContextHandle context) {
  if (!exists(device)) return Failure{CudaStatus::invalid_device};
  CUevent event = nullptr;
  const auto create = [&] { return api_.event_create(&event, CU_EVENT_DISABLE_TIMING); };
  const CUresult status = context == ContextHandle{}
                              ? in_primary(device, create)
                              : in_context(pointer_from<CUctx_st>(context.value), create);
  if (status != CUDA_SUCCESS) return failure(status);
  return EventHandle{value_of(event)};
}

DriverResult<Done> CudaDriver::event_record(StreamRef stream, EventHandle event) {
  return done_if(in_primary(
      stream.device, [&] { return api_.event_record(cuda_event(event), cuda_stream(stream)); }));
}

DriverResult<bool> CudaDriver::event_query(DeviceIndex device, EventHandle event) {
  const CUresult status = in_primary(device, [&] { return api_.event_query(cuda_event(event)); });
  if (status == CUDA_ERROR_NOT_READY) return false;
  if (status != CUDA_SUCCESS) return failure(status);
  return true;
}

DriverResult<Done> CudaDriver::event_sync(DeviceIndex device, EventHandle event) {
  return done_if(in_primary(device, [&] { return api_.event_synchronize(cuda_event(event)); }));
}

DriverResult<Done> CudaDriver::event_destroy(DeviceIndex device, EventHandle event) {
  return done_if(in_primary(device, [&] { return api_.event_destroy(cuda_event(event)); }));
}

DriverResult<Done> CudaDriver::ctx_record(DeviceIndex device, EventHandle event) {
  CUcontext primary = nullptr;
  if (const CUresult status = find_primary(device, primary); status != CUDA_SUCCESS) {
    return failure(status);
  }
  if (api_.ctx_record_event == nullptr) return Failure{CudaStatus::not_supported};
  return done_if(
      in_context(primary, [&] { return api_.ctx_record_event(primary, cuda_event(event)); }));
}

DriverResult<Done> CudaDriver::stream_sync(StreamRef stream) {
  return done_if(
      in_primary(stream.device, [&] { return api_.stream_synchronize(cuda_stream(stream)); }));
}

DriverResult<Done> CudaDriver::device_sync(DeviceIndex device) {
  return done_if(in_primary(device, [&] { return api_.ctx_synchronize(); }));
}

DriverResult<ContextHandle> CudaDriver::stream_ctx(StreamRef stream) {
  CUcontext context = nullptr;
  const CUresult status =
      in_primary(stream.device, [&] { return api_.stream_get_ctx(cuda_stream(stream), &context); });
  if (status != CUDA_SUCCESS) return failure(status);
  return ContextHandle{context == at(stream.device).primary.load() ? 0 : value_of(context)};
}

DriverResult<std::uint64_t> CudaDriver::stream_id(StreamRef stream) {
  unsigned long long id = 0;
  const CUresult status =
      in_primary(stream.device, [&] { return api_.stream_get_id(cuda_stream(stream), &id); });
  if (status != CUDA_SUCCESS) return failure(status);
  return std::uint64_t{id};
}

Failure<Error> why_not_open(const char* call, CUresult status) {
  const auto code = static_cast<int>(status);
  if (status == CUDA_ERROR_NO_DEVICE) {
    return Failure{Error{ErrorCode::unsupported, 0,
                         "The CUDA driver finds no GPU (no_device, " + std::to_string(code) +
                             "); is one there, and does CUDA_VISIBLE_DEVICES hide it?",
                         nullptr}};
  }
  return Failure{Error{ErrorCode::cuda_error, code,
                       "The CUDA driver could not be opened: " + std::string(call) +
                           " failed: " + std::string(to_string(static_cast<CudaStatus>(status))) +
                           " (" + std::to_string(code) + ")",
                       nullptr}};
}

}  // namespace

Result<std::unique_ptr<Driver>, Error> open_cuda_driver() {
  const Result<CudaApi, Error> api = load_cuda_api();
  if (!api) return Failure{api.error()};
  if (const CUresult status = api->init(0); status != CUDA_SUCCESS) {
    return why_not_open("cuInit", status);
  }
  int count = 0;
  if (const CUresult status = api->device_get_count(&count); status != CUDA_SUCCESS) {
    return why_not_open("cuDeviceGetCount", status);
  }
  if (count == 0) return why_not_open("cuDeviceGetCount", CUDA_ERROR_NO_DEVICE);
  auto driver = std::make_unique<CudaDriver>(*api);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    if (const CUresult status = driver->add_device(ordinal); status != CUDA_SUCCESS) {
      return why_not_open("cuDeviceGet or cuDeviceTotalMem", status);
    }
  }
  return std::unique_ptr<Driver>(std::move(driver));
}

}  // namespace cairn
