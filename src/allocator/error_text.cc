#include "allocator/error_text.h"

#include <array>
#include <cstdio>

#include "base/in_words.h"

namespace cairn {
namespace {

std::string with_unit(double value, const char* unit) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.2f %s", value, unit);
  return text.data();
}

Error invalid_argument(std::string message) {
  return {ErrorCode::invalid_argument, 0, std::move(message)};
}

std::string exact(Bytes size) { return std::to_string(size.count) + " bytes"; }

std::string stream_words(StreamId stream) {
  if (stream == legacy_default_stream) return "the legacy default stream";
  return "stream " + in_words(Address{stream.value});
}

const Block& block_at(const Segment& segment, Address address) {
  const Block* block = segment.first;
  while (!block->span().contains(address)) block = block->next;
  return *block;
}

}  // namespace

std::string in_words(Bytes size) {
  const auto count = static_cast<double>(size.count);
  if (size.count >= std::uint64_t{1} << 30) return with_unit(count / (1 << 30), "GiB");
  if (size.count >= std::uint64_t{1} << 20) return with_unit(count / (1 << 20), "MiB");
  if (size.count >= std::uint64_t{1} << 10) return with_unit(count / (1 << 10), "KiB");
  return exact(size);
}

Error cuda_error(DriverCall call, const std::string& what, DeviceIndex device, CudaStatus status) {
  return {ErrorCode::cuda_error, static_cast<int>(status),
          "CUDA driver call " + std::string(to_string(call)) + " of " + what + on_device(device) +
              " failed: " + std::string(to_string(status)) + " (" +
              std::to_string(static_cast<int>(status)) + ")"};
}

Error out_of_memory(const Heap& heap, const HeapRequest& request,
                    const DriverResult<MemoryInfo>& memory) {
  const DeviceStats stats = heap.ledger().read();
  const Bytes allocated{static_cast<std::uint64_t>(stats.allocated_bytes.all.current)};
  const Bytes reserved{static_cast<std::uint64_t>(stats.reserved_bytes.all.current)};
  std::string message = "CUDA out of memory. Tried to allocate " +
                        in_words(heap.segment_size(request)) + " for a request of " +
                        exact(request.requested) + on_device(heap.device()) + " (" +
                        stream_words(request.stream) + "). ";
  if (memory) {
    message += "The device has a total capacity of " + in_words(memory->total) + " of which " +
               in_words(memory->free) + " is free. ";
  }
  message += "Of the memory that Cairn holds, " + in_words(allocated) + " is allocated and " +
             in_words(reserved - allocated) +
             " is reserved but unallocated, between live blocks. Free some of these; if much is " +
             "unallocated, max_split_size_mb may reduce fragmentation.";
  return {ErrorCode::out_of_memory, static_cast<int>(CudaStatus::out_of_memory), message};
}

Error larger_than_possible(Bytes requested) {
  return {ErrorCode::out_of_memory, static_cast<int>(CudaStatus::out_of_memory),
          "CUDA out of memory. Tried to allocate " + exact(requested) +
              "; requests are below 1 EiB (2^60 bytes). Is a size negative, or did it overflow?"};
}

Error impossible_segment(DeviceIndex device, Span span) {
  return {
      ErrorCode::cuda_error, static_cast<int>(CudaStatus::unknown),
      "The driver gave " + exact(span.size) + " at " + in_words(span.begin) + on_device(device) +
          ", which cannot be: memory is not null, a multiple of 512, and overlaps none that was "
          "given before. It is left alone"};
}

Error misaligned_segment(DeviceIndex device, Span span, Bytes alignment) {
  return {ErrorCode::unsupported, 0,
          "The driver's memory at " + in_words(span.begin) + on_device(device) +
              " has no room that is aligned to " + exact(alignment) +
              "; ask for a weaker alignment, or for more bytes and align in them"};
}

Error no_such_device(DeviceIndex device, int device_count) {
  return invalid_argument("There is no device " + std::to_string(device) + ": the driver has " +
                          std::to_string(device_count) + ", counted from 0");
}

Error bad_alignment(Bytes alignment) {
  return invalid_argument("An alignment of " + exact(alignment) +
                          " cannot be: it must be a power of two and at most 2 MiB");
}

Error not_live(const Heap& heap, const Segment& segment, Address pointer) {
  const Block& block = block_at(segment, pointer);
  std::string message = "Cannot free " + in_words(pointer) + on_device(heap.device()) + ": ";
  const std::string range = "block " + in_words(block.ptr) + " of " + exact(block.size) + " (" +
                            stream_words(block.stream) + ")";
  if (block.allocated) {
    message += "it lies " + exact(pointer - block.ptr) + " inside the live " + range +
               "; free takes the address that allocate gave";
  } else {
    message += "it is in the free " + range + "; was it freed before?";
  }
  return invalid_argument(message);
}

Error foreign_pointer(Address pointer) {
  return invalid_argument("Cannot free " + in_words(pointer) +
                          ": it is in no memory of this allocator; was it allocated elsewhere, or "
                          "freed and given back to the driver?");
}

Error wrong_size(const Block& block, Bytes size) {
  return invalid_argument("Cannot free " + in_words(block.ptr) + on_device(block.device) +
                          " with " + exact(size) + ": " + exact(block.requested_size) +
                          " were requested");
}

Error wrong_stream(const Block& block, StreamId stream) {
  return invalid_argument("Cannot free " + in_words(block.ptr) + on_device(block.device) + " on " +
                          stream_words(stream) + ": it was allocated for " +
                          stream_words(block.stream));
}

}  // namespace cairn
