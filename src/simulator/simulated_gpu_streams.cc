// Streams and events of the simulated GPU.
#include "simulator/simulated_gpu.h"

namespace cairn::simulator {
DriverResult<EventHandle> SimulatedGpu::event_create(DeviceIndex, ContextHandle) {
  return Failure{CudaStatus::not_supported};
}
DriverResult<Done> SimulatedGpu::event_record(StreamRef, EventHandle) {
  return Failure{CudaStatus::not_supported};
}
DriverResult<bool> SimulatedGpu::event_query(DeviceIndex, EventHandle) {
  return Failure{CudaStatus::not_supported};
}
DriverResult<Done> SimulatedGpu::event_sync(DeviceIndex, EventHandle) {
  return Failure{CudaStatus::not_supported};
}
DriverResult<Done> SimulatedGpu::event_destroy(DeviceIndex, EventHandle) {
  return Failure{CudaStatus::not_supported};
}
DriverResult<Done> SimulatedGpu::ctx_record(DeviceIndex, EventHandle) {
  return Failure{CudaStatus::not_supported};
}
DriverResult<Done> SimulatedGpu::stream_sync(StreamRef) {
  return Failure{CudaStatus::not_supported};
}
DriverResult<Done> SimulatedGpu::device_sync(DeviceIndex) {
  return Failure{CudaStatus::not_supported};
}
DriverResult<ContextHandle> SimulatedGpu::stream_ctx(StreamRef) {
  return Failure{CudaStatus::not_supported};
}
DriverResult<std::uint64_t> SimulatedGpu::stream_id(StreamRef) {
  return Failure{CudaStatus::not_supported};
}
Result<ContextHandle, std::string> SimulatedGpu::make_context(DeviceIndex) {
  return Failure{std::string()};
}
Result<StreamRef, std::string> SimulatedGpu::make_stream(const StreamOptions&) {
  return Failure{std::string()};
}
Result<Done, std::string> SimulatedGpu::destroy_stream(StreamRef, bool) {
  return Failure{std::string()};
}
Result<Done, std::string> SimulatedGpu::launch(StreamRef, const std::vector<Touch>&,
                                               std::uint64_t) {
  return Failure{std::string()};
}
Result<Done, std::string> SimulatedGpu::order(StreamRef, StreamRef) {
  return Failure{std::string()};
}
Result<Done, std::string> SimulatedGpu::synchronize(StreamRef) { return Failure{std::string()}; }
Result<Done, std::string> SimulatedGpu::synchronize(DeviceIndex) { return Failure{std::string()}; }
StreamNumber SimulatedGpu::identify(StreamRef) const { return StreamNumber::none; }
void SimulatedGpu::advance(std::uint64_t) {}
std::size_t SimulatedGpu::event_count() const { return 0; }

}  // namespace cairn::simulator
