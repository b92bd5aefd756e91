#include "driver/call_text.h"

#include "base/in_words.h"
#include "driver/cuda_status.h"

namespace cairn {
namespace {

// Streams, events and contexts are numbers to CUDA's callers, as addresses are.
void add_handle(std::string& text, const char* name, std::uint64_t value) {
  text += std::string(" ") + name + "=" + in_words(Address{value});
}

}  // namespace

std::string text_of(const RecordedCall& call) {
  const bool has_failed = call.status != CudaStatus::success;
  std::string text(to_string(call.call));
  text += " device=" + std::to_string(call.device);
  if (call.call == DriverCall::malloc) text += " size=" + std::to_string(call.size.count);
  if (call.address != Address{}) add_handle(text, "address", call.address.value);
  if (takes_stream(call.call)) add_handle(text, "stream", call.stream);
  if (call.event.value != 0) add_handle(text, "event", call.event.value);
  if (call.context.value != 0) add_handle(text, "context", call.context.value);
  if (call.call == DriverCall::event_query && !has_failed) text += call.is_done ? " done" : " runs";
  if (call.call == DriverCall::mem_info && !has_failed) {
    text += " free=" + std::to_string(call.memory.free.count) +
            " total=" + std::to_string(call.memory.total.count);
  }
  if (call.call == DriverCall::stream_id && !has_failed) add_handle(text, "id", call.stream_id);
  if (has_failed) text += " error=" + std::string(to_string(call.status));
  return text;
}

}  // namespace cairn
