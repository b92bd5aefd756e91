#include "simulator/libcuda/machine.h"

#include <cstdlib>
#include <string_view>

namespace cairn::simulator {
namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::unique_ptr<Machine>& the_machine() {
  static std::unique_ptr<Machine> machine;
  return machine;
}

}  // namespace

Machine::Machine(const std::vector<DeviceOptions>& devices)
    : gpu(devices), primary_holds(devices.size()) {
  for (DeviceIndex device = 0; device < gpu.device_count(); ++device) add_context(device, {});
}

CUcontext Machine::add_context(DeviceIndex device, ContextHandle handle) {
  contexts_.push_back({device, handle});
  return &contexts_.back();
}

CUcontext Machine::context_of(DeviceIndex device, ContextHandle handle) {
  for (CUctx_st& context : contexts_) {
    if (context.device == device && context.handle == handle) return &context;
  }
  return nullptr;
}

std::optional<StreamRef> Machine::stream_of(CUstream stream, CUcontext current) const {
  const auto handle = reinterpret_cast<std::uint64_t>(stream);
  if (handle <= per_thread_stream_handle) {
    if (current->handle != ContextHandle{}) return std::nullopt;
    return StreamRef{current->device, handle};
  }
  const auto found = streams_.find(handle);
  return StreamRef{found == streams_.end() ? current->device : found->second.device, handle};
}

StreamFacts Machine::facts_of(StreamRef stream) const {
  const auto found = streams_.find(stream.handle);
  return found == streams_.end() ? StreamFacts{stream.device} : found->second;
}

DeviceIndex Machine::device_of(EventHandle event, CUcontext current) const {
  const auto found = events_.find(event.value);
  return found == events_.end() ? current->device : found->second.device;
}

EventFacts* Machine::facts_of(EventHandle event) {
  const auto found = events_.find(event.value);
  return found == events_.end() ? nullptr : &found->second;
}

int cuda_version() {
  return static_cast<int>(number_from_environment("CAIRN_SIM_CUDA_VERSION", 13000));
}

Ticks kernel_ticks() { return number_from_environment("CAIRN_SIM_KERNEL_TICKS", 1000); }

bool is_missing(const char* name) {
  const char* missing = std::getenv("CAIRN_SIM_MISSING");
  return missing != nullptr && std::string_view(missing) == name;
}

void make_machine() {
  const std::lock_guard lock(machine_mutex());
  if (the_machine() != nullptr) return;
  DeviceOptions device;
  device.memory.count = number_from_environment("CAIRN_SIM_MEMORY", device.memory.count);
  const auto count = static_cast<std::size_t>(number_from_environment("CAIRN_SIM_DEVICES", 1));
  the_machine() = std::make_unique<Machine>(std::vector<DeviceOptions>(count, device));
}

void end_machine() {
  const std::lock_guard lock(machine_mutex());
  the_machine().reset();
  context_stack().clear();
}

std::vector<CUcontext>& context_stack() {
  static thread_local std::vector<CUcontext> stack;
  return stack;
}

std::mutex& machine_mutex() {
  static std::mutex mutex;
  return mutex;
}

Machine* machine() { return the_machine().get(); }

}  // namespace cairn::simulator
