#include "testing/bare_model.h"

#include <string>
#include <utility>

#include "testing/printer.h"

namespace cairn::testing {
namespace {

constexpr int success = 0;
constexpr int no_memory = 2;  // Also said to calls that the other never made: it ends any attempt.
constexpr std::uint64_t some_context = 7;
constexpr std::uint64_t legacy_handle = 1;
constexpr const char* no_more_calls = "no more driver calls";

StreamKey key_of(DeviceIndex device, std::uint64_t handle) {
  return {device, handle == legacy_handle ? legacy_default_stream : StreamId{handle}};
}

std::string describe(const BareCall& call) {
  switch (call.kind) {
    case BareCall::Kind::malloc:
      return "malloc of " + std::to_string(call.what) + " bytes";
    case BareCall::Kind::free:
      return "free of " + print_address({call.what});
    case BareCall::Kind::stream_sync:
      return "stream_sync of stream " + print_address({call.what});
  }
  return {};
}

}  // namespace

std::optional<Difference> BareModel::end() {
  if (!difference_ && next_call_ < calls_->size())
    difference_ = {no_more_calls, describe((*calls_)[next_call_])};
  return std::exchange(difference_, std::nullopt);
}

const BareCall* BareModel::take(const BareCall& foretold) {
  if (difference_) return nullptr;
  const BareCall* call = next_call_ < calls_->size() ? &(*calls_)[next_call_] : nullptr;
  if (call != nullptr && call->kind == foretold.kind && call->what == foretold.what) {
    ++next_call_;
    return call;
  }
  difference_ = {describe(foretold), call == nullptr ? no_more_calls : describe(*call)};
  return nullptr;
}

int BareModel::unforeseen(const char* call) {
  if (!difference_) difference_ = {call, "no such driver call"};
  return no_memory;
}

model::Environment::Allocated BareModel::malloc(DeviceIndex, Bytes size) {
  const BareCall* call = take({BareCall::Kind::malloc, size.count, {}});
  if (call == nullptr || call->given == Address{}) return {no_memory, {}};
  return {success, call->given};
}

int BareModel::free(DeviceIndex, Address address) {
  return take({BareCall::Kind::free, address.value, {}}) == nullptr ? no_memory : success;
}

int BareModel::stream_sync(DeviceIndex device, std::uint64_t stream) {
  const StreamKey key = key_of(device, stream);
  clock_.sync(key);
  return take({BareCall::Kind::stream_sync, key.id.value, {}}) == nullptr ? no_memory : success;
}

model::Environment::Memory BareModel::mem_info(DeviceIndex) { return {success, {}, memory_}; }

model::Environment::Number BareModel::event_create(DeviceIndex, std::uint64_t) {
  events_.push_back(0);
  return {success, events_.size()};
}

int BareModel::event_record(DeviceIndex device, std::uint64_t stream, std::uint64_t event) {
  done_at(event) = clock_.done_at(key_of(device, stream));
  return success;
}

model::Environment::Queried BareModel::event_query(DeviceIndex, std::uint64_t event) {
  return {success, clock_.is_past(done_at(event))};
}

int BareModel::event_sync(DeviceIndex, std::uint64_t event) {
  clock_.wait_until(done_at(event));
  return success;
}

model::Environment::Number BareModel::stream_ctx(DeviceIndex, std::uint64_t) {
  return {success, some_context};
}

int BareModel::ctx_record(DeviceIndex, std::uint64_t) { return unforeseen("ctx_record"); }
int BareModel::device_sync(DeviceIndex) { return unforeseen("device_sync"); }
model::Environment::Number BareModel::stream_id(DeviceIndex, std::uint64_t) {
  return {unforeseen("stream_id"), 0};
}

}  // namespace cairn::testing
