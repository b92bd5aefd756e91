// Copies and fills: done at once where the bytes are there, and told to the judge as work on their
// stream.
#include <cstring>

#include "simulator/libcuda/copies.h"
#include "simulator/libcuda/environment.h"
#include "simulator/libcuda/machine.h"

namespace cairn::simulator {
namespace {

// One end of a copy.
struct End {
  bool is_known = false;   // False: an address where a device's memory would be, and none is.
  bool is_device = false;  // The judge hears of it.
  bool is_there = false;   // It can be read and written.
  DeviceIndex device = 0;
};

bool is_device_address(const Machine& machine, Address address) {
  return first_address(0) <= address && address < first_address(machine.gpu.device_count());
}

End end_at(const Machine& machine, Span span) {
  const Region* const region = machine.memory.containing(span.begin);
  if (region == nullptr) {
    const bool is_host = !is_device_address(machine, span.begin);
    return {is_host, false, is_host, 0};
  }
  const bool is_inside = span.size <= region->span.end() - span.begin;
  const bool is_device = region->kind == MemoryKind::device || region->kind == MemoryKind::managed;
  return {is_inside || !is_device, is_device, region->is_backed, region->home.device};
}

CUresult tell_judge(Machine& machine, StreamRef stream, const Touch& touch) {
  const bool is_launched{machine.gpu.touch(stream, touch, kernel_ticks())};
  return is_launched ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

Span span_of(const void* pointer, std::size_t size) {
  return {Address{reinterpret_cast<std::uint64_t>(pointer)}, Bytes{size}};
}

// The device that an unknown address would be of.
DeviceIndex device_at(Address address) {
  return static_cast<DeviceIndex>((address - first_address(0)).count >> 40);
}

// Tells the judge what the stream's work does there; success: it may be done.
CUresult use(Machine& machine, StreamRef stream, Span span, bool is_read_only) {
  const End end = end_at(machine, span);
  if (!end.is_known) {
    const bool is_in_device = is_device_address(machine, span.begin);
    const DeviceIndex device = is_in_device ? device_at(span.begin) : end.device;
    tell_judge(machine, stream, {device, span, is_read_only});
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!end.is_device) return CUDA_SUCCESS;
  return tell_judge(machine, stream, {end.device, span, is_read_only});
}

}  // namespace

CUresult copy(void* to, const void* from, std::size_t size, CUstream stream) {
  return on_stream(stream, [&](Machine& machine, StreamRef named) {
    if (size == 0) return CUDA_SUCCESS;
    if (to == nullptr || from == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Span source = span_of(from, size);
    const Span target = span_of(to, size);
    if (const CUresult refused = use(machine, named, source, true)) return refused;
    if (const CUresult refused = use(machine, named, target, false)) return refused;
    if (end_at(machine, source).is_there && end_at(machine, target).is_there) {
      std::memmove(to, from, size);
    }
    return CUDA_SUCCESS;
  });
}

CUresult fill(void* to, Pattern pattern, std::size_t count, CUstream stream) {
  return on_stream(stream, [&](Machine& machine, StreamRef named) {
    if (count == 0) return CUDA_SUCCESS;
    if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Span target = span_of(to, count * pattern.size);
    if (const CUresult refused = use(machine, named, target, false)) return refused;
    if (!end_at(machine, target).is_there) return CUDA_SUCCESS;
    if (pattern.size == 1) {
      std::memset(to, static_cast<int>(pattern.value), count);
      return CUDA_SUCCESS;
    }
    auto* const bytes = static_cast<unsigned char*>(to);
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(bytes + i * pattern.size, &pattern.value, pattern.size);
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace cairn::simulator
