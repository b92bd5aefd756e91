#include "cairn/plugins.h"

#include <cstdint>
#include <cstdio>
#include <exception>
#include <utility>

#include "allocator/error_text.h"
#include "cairn/allocator.h"

namespace cairn {
namespace {

std::uint64_t value_of(const void* pointer) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

// For callers that take no failure.
void free_or_complain(void* pointer) noexcept {
  if (pointer == nullptr) return;  // Where the allocator could not be made too.
  try {
    default_allocator().free(pointer);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "cairn: a free failed: %s\n", failure.what());
  }
}

// The segment that holds the address; empty where none does.
SegmentInfo segment_of(const Allocator& allocator, std::uint64_t address) {
  for (int device = 0; device < allocator.device_count(); ++device) {
    for (SegmentInfo& segment : allocator.block_map(device)) {
      if (address - segment.address < segment.size_bytes) return std::move(segment);
    }
  }
  return {};
}

}  // namespace
}  // namespace cairn

void* cairn_torch_alloc(ssize_t size, int device, cairn_stream stream) {
  return cairn::default_allocator().allocate({static_cast<std::size_t>(size), device, stream});
}

void cairn_torch_free(void* pointer, ssize_t /*size*/, int /*device*/, cairn_stream /*stream*/) {
  cairn::free_or_complain(pointer);
}

void cairn_torch_record_stream(void* pointer, cairn_stream stream) {
  cairn::default_allocator().record_stream(pointer, stream);
}

void cairn_torch_init(int /*device_count*/) { cairn::default_allocator(); }

void cairn_torch_reset(void) { cairn::default_allocator().empty_cache(); }

void cairn_torch_memory_fraction(double fraction, int device) {
  cairn::default_allocator().set_memory_fraction(device, fraction);
}

void* cairn_torch_base_alloc(void* pointer, size_t* size) {
  const std::uint64_t address = cairn::value_of(pointer);
  const cairn::SegmentInfo segment = cairn::segment_of(cairn::default_allocator(), address);
  if (segment.size_bytes == 0) throw_error(cairn::foreign_pointer({address}));
  if (size != nullptr) *size = segment.size_bytes;
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(segment.address));
}

void* cairn_cupy_malloc(void* param, size_t size, int device) {
  return cairn::default_allocator().allocate({size, device, static_cast<cairn_stream>(param)});
}

void cairn_cupy_free(void* /*param*/, void* pointer, int /*device*/) {
  cairn::free_or_complain(pointer);
}
