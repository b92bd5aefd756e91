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

std::string stream_in_words(StreamId stream) {
  if (stream == legacy_default_stream) return "the legacy default stream";
  if (is_retired(stream)) return "a stream that was forgotten";
  if (is_per_thread(stream)) return "the per-thread default stream of a thread";
  if (stream.value == per_thread_stream_handle) return "the per-thread default streams";
  return "stream " + in_words(Address{stream.value});
}

std::string event_in_words(const PendingEvent& pending) {
  std::string words = "event " + in_words(Address{pending.event.value});
  if (pending.block != nullptr) {
    words += ", for which the freed block " + in_words(pending.block->ptr) + " of " +
             exact(pending.block->size) + " waits,";
  }
  return words;
}

Error device_is_lost(const DeviceState& state) {
  return {ErrorCode::cuda_error, static_cast<int>(*state.lost),
          "Device " + std::to_string(state.device()) +
              " is lost: an earlier CUDA driver call failed with " +
              std::string(to_string(*state.lost)) + " (" +
              std::to_string(static_cast<int>(*state.lost)) +
              "), after which the process must be restarted. Memory of it can still be freed, but "
              "none is handed out any more"};
}

Error cuda_error(DriverCall call, const std::string& what, DeviceIndex device, CudaStatus status) {
  return {ErrorCode::cuda_error, static_cast<int>(status),
          "CUDA driver call " + std::string(to_string(call)) + " of " + what + on_device(device) +
              " failed: " + std::string(to_string(status)) + " (" +
              std::to_string(static_cast<int>(status)) + ")"};
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

Error bad_fraction(double fraction) {
  std::array<char, 32> text{};  // All digits, so that what is just above 1 does not read as 1.
  std::snprintf(text.data(), text.size(), "%.17g", fraction);
  return invalid_argument("A memory fraction of " + std::string(text.data()) +
                          " cannot be: it must be from 0 to 1");
}

Error impossible_stream(std::uint64_t handle) {
  return invalid_argument(in_words(Address{handle}) +
                          " names no stream: handles, and ids of streams, are below 2^61");
}

Error default_stream_does_not_end(StreamId stream) {
  return invalid_argument("Cannot forget " + stream_in_words(stream) +
                          ": default streams are not destroyed");
}

Error unsupported_setting(const std::string& setting) {
  return {ErrorCode::unsupported, 0, "The setting " + setting + " is not supported yet"};
}

Error unchangeable_setting(const std::string& setting) {
  return {ErrorCode::unsupported, 0,
          "The setting " + setting +
              " cannot change while the allocator works; make another allocator"};
}

Error not_live(const Heap& heap, const Segment& segment, Address pointer) {
  const Block& block = block_at(segment, pointer);
  std::string message = "Not a live block: " + in_words(pointer) + on_device(heap.device()) + ": ";
  const std::string range = "block " + in_words(block.ptr) + " of " + exact(block.size) + " (" +
                            stream_in_words(block.stream) + ")";
  if (block.allocated) {
    message += "it lies " + exact(pointer - block.ptr) + " inside the live " + range +
               "; name it by the address that allocate gave";
  } else if (!block.is_free()) {
    message +=
        "it is in the freed " + range + ", which waits for other streams; was it freed twice?";
  } else {
    message += "it is in the free " + range + "; was it freed before?";
  }
  return invalid_argument(message);
}

Error foreign_pointer(Address pointer) {
  return invalid_argument("Not a live block: " + in_words(pointer) +
                          " is in no memory of this allocator; was it allocated elsewhere, or "
                          "freed and given back to the driver?");
}

Error wrong_size(const Block& block, Bytes size) {
  return invalid_argument("Cannot free " + in_words(block.ptr) + on_device(block.device) +
                          " with " + exact(size) + ": " + exact(block.requested_size) +
                          " were requested");
}

Error wrong_stream(const Block& block, StreamId stream) {
  return invalid_argument("Cannot free " + in_words(block.ptr) + on_device(block.device) + " on " +
                          stream_in_words(stream) + ": it was allocated for " +
                          stream_in_words(block.stream));
}

}  // namespace cairn
