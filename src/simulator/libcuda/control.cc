#include "simulator/libcuda/control.h"

#include <cuda.h>

#include <cstdio>
#include <string>
#include <vector>

#include "simulator/libcuda/environment.h"
#include "simulator/libcuda/machine.h"

using cairn::Address;
using cairn::Bytes;
using cairn::DeviceIndex;
using cairn::Span;
using cairn::StreamRef;
using cairn::simulator::Machine;
using cairn::simulator::StreamNumber;

namespace {

Span span_of(const void* address, std::size_t size) {
  return {Address{reinterpret_cast<std::uint64_t>(address)}, Bytes{size}};
}

bool is_range(const void* address, std::size_t size) {
  const auto limit = cairn::simulator::address_limit;
  const Span range = span_of(address, size);
  return size != 0 && range.begin < limit && range.size <= limit - range.begin;
}

// That the memory is of; `otherwise` where nobody knows it.
DeviceIndex device_of(const Machine& machine, Span range, DeviceIndex otherwise) {
  const cairn::simulator::Region* const region = machine.memory.containing(range.begin);
  return region == nullptr ? otherwise : region->home.device;
}

// As snprintf() would.
std::size_t put(const std::string& words, char* text, std::size_t size) {
  if (size > 0) std::snprintf(text, size, "%s", words.c_str());
  return words.size();
}

}  // namespace

extern "C" {

void cairn_sim_reset() { cairn::simulator::end_machine(); }

int cairn_sim_launch(CUstream stream, unsigned long long ticks) {
  return cairn::simulator::in_current_context([&](Machine& machine, CUcontext current) {
    const auto named = machine.stream_of(stream, current);
    if (!named) return CUDA_ERROR_NOT_SUPPORTED;
    const bool is_launched{machine.gpu.launch(*named, {}, ticks)};
    return is_launched ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

int cairn_sim_touch(CUstream stream, const void* address, std::size_t size, int mode) {
  constexpr int all_modes = CAIRN_SIM_READ | CAIRN_SIM_WRITE;
  if (mode == 0 || (mode & ~all_modes) != 0 || size == 0) return CUDA_ERROR_INVALID_VALUE;
  return cairn::simulator::on_stream(stream, [&](Machine& machine, StreamRef named) {
    const Span range = span_of(address, size);
    const DeviceIndex device = device_of(machine, range, named.device);
    const bool is_read_only = (mode & CAIRN_SIM_WRITE) == 0;
    const bool is_launched{
        machine.gpu.touch(named, {device, range, is_read_only}, cairn::simulator::kernel_ticks())};
    return is_launched ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

int cairn_sim_hand_out(CUstream stream, const void* address, std::size_t size) {
  if (!is_range(address, size)) return CUDA_ERROR_INVALID_VALUE;
  return cairn::simulator::on_stream(stream, [&](Machine& machine, StreamRef named) {
    const Span range = span_of(address, size);
    const StreamNumber owner = machine.gpu.identify(named);
    if (owner == StreamNumber::none) return CUDA_ERROR_INVALID_HANDLE;
    machine.gpu.hand_out(device_of(machine, range, named.device), range, owner);
    return CUDA_SUCCESS;
  });
}

int cairn_sim_take_back(const void* address, std::size_t size, CUstream const* recorded,
                        std::size_t recorded_count) {
  if (!is_range(address, size)) return CUDA_ERROR_INVALID_VALUE;
  return cairn::simulator::in_current_context([&](Machine& machine, CUcontext current) {
    std::vector<StreamNumber> streams;
    for (std::size_t i = 0; i < recorded_count; ++i) {
      const auto named = machine.stream_of(recorded[i], current);
      if (!named) return CUDA_ERROR_NOT_SUPPORTED;
      streams.push_back(machine.gpu.identify(*named));
    }
    const Span range = span_of(address, size);
    machine.gpu.take_back(device_of(machine, range, current->device), range, streams);
    return CUDA_SUCCESS;
  });
}

void cairn_sim_advance(unsigned long long ticks) {
  cairn::simulator::with_machine([&](Machine& machine) {
    machine.gpu.advance(ticks);
    return CUDA_SUCCESS;
  });
}

std::size_t cairn_sim_violations(char* text, std::size_t size) {
  std::string words;
  cairn::simulator::with_machine([&](Machine& machine) {
    for (const auto& violation : machine.gpu.violations()) words += violation.message + "\n";
    return CUDA_SUCCESS;
  });
  return put(words, text, size);
}

std::size_t cairn_sim_mistakes(char* text, std::size_t size) {
  std::string words;
  cairn::simulator::with_machine([&](Machine& machine) {
    for (const std::string& mistake : machine.gpu.mistakes()) words += mistake + "\n";
    return CUDA_SUCCESS;
  });
  return put(words, text, size);
}

int cairn_sim_next_address(int device, unsigned long long address) {
  return cairn::simulator::with_machine([&](Machine& machine) {
    const bool is_set{machine.gpu.set_next_address(device, Address{address})};
    return is_set ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

std::size_t cairn_sim_take_calls(char* text, std::size_t size) {
  std::size_t length = 0;
  cairn::simulator::with_machine([&](Machine& machine) {
    std::string& calls =
        machine.untold_calls ? *machine.untold_calls : machine.untold_calls.emplace();
    length = put(calls, text, size);
    if (length < size) calls.clear();
    return CUDA_SUCCESS;
  });
  return length;
}

}  // extern "C"
