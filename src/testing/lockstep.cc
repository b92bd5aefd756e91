#include "testing/lockstep.h"

#include <algorithm>

#include "base/thread_number.h"
#include "driver/cuda_status.h"
#include "testing/printer.h"

namespace cairn::testing {
namespace {

// What a call is told that the allocator never made: it ends any attempt soon.
constexpr int refusal = static_cast<int>(CudaStatus::out_of_memory);

// Whether what went into both is the same.
bool asks_the_same(const RecordedCall& a, const RecordedCall& b) {
  if (a.call != b.call || a.device != b.device) return false;
  if (a.size != b.size || a.stream != b.stream) return false;
  switch (a.call) {
    case DriverCall::malloc:
      return true;
    case DriverCall::free:
      return a.address == b.address;
    case DriverCall::event_create:
      return a.context == b.context;
    default:
      return a.event == b.event;
  }
}

std::string describe_end(ErrorCode code, Address address) {
  if (code != ErrorCode::none) return std::string("failure: ") + to_string(code);
  return "success" + (address == Address{} ? "" : " at " + print_address(address));
}

// The code of a cuda_error is that of the call which failed last, as it ends the operation; but a
// look at events goes on after a failure that is not sticky, and gives the first. A device that was
// lost before gives its own.
std::optional<Difference> compare_cuda_code(const Deed& deed) {
  const auto has_failed = [](const RecordedCall& call) {
    return call.status != CudaStatus::success;
  };
  const auto last = std::find_if(deed.calls.rbegin(), deed.calls.rend(), has_failed);
  if (deed.error.code != ErrorCode::cuda_error || last == deed.calls.rend()) return std::nullopt;
  const bool is_look = last->call == DriverCall::event_query && !is_sticky(last->status);
  const RecordedCall& told = is_look ? *std::ranges::find_if(deed.calls, has_failed) : *last;
  const auto found = static_cast<CudaStatus>(deed.error.cuda_code);
  const bool is_of_call =
      std::ranges::find(deed.calls, found, &RecordedCall::status) != deed.calls.end();
  if (found == told.status || (is_sticky(found) && !is_of_call)) return std::nullopt;
  return Difference{
      "code " + std::to_string(static_cast<int>(told.status)) + " of " + describe(told),
      "code " + std::to_string(deed.error.cuda_code)};
}

std::optional<Difference> compare_end(const Deed& deed, const model::Outcome& foretold) {
  if (foretold.code != deed.error.code || foretold.address != deed.address)
    return Difference{describe_end(foretold.code, foretold.address),
                      describe_end(deed.error.code, deed.address)};
  if (auto difference = compare_cuda_code(deed)) return difference;
  const MemoryReport* found = deed.error.memory.get();
  if (foretold.memory && found != nullptr) return compare(*foretold.memory, *found);
  if (foretold.memory.has_value() == (found != nullptr)) return std::nullopt;
  constexpr const char* with = "a failure with its quantities";
  constexpr const char* without = "one without";
  return found == nullptr ? Difference{with, without} : Difference{without, with};
}

}  // namespace

std::optional<Difference> Lockstep::end(Progress& progress, const Deed& deed,
                                        const model::Outcome& foretold) {
  if (progress.difference) return progress.difference;
  if (progress.next_call < deed.calls.size())
    return Difference{"no more driver calls", describe(deed.calls[progress.next_call])};
  return compare_end(deed, foretold);
}

const RecordedCall* Lockstep::take(const RecordedCall& foretold) {
  Progress& now = *now_;
  if (now.difference) return nullptr;
  const bool is_early = now.next_call == now.calls->size() && !now.is_whole;
  if (is_early && now.aside != nullptr) now.aside->pause();
  const bool has_more = now.next_call < now.calls->size();
  if (has_more && asks_the_same((*now.calls)[now.next_call], foretold))
    return &(*now.calls)[now.next_call++];
  now.difference = {describe(foretold),
                    has_more ? describe((*now.calls)[now.next_call]) : "no more driver calls"};
  return nullptr;
}

Lockstep::InPhases::InPhases(Lockstep& lockstep, Same same)
    : lockstep_(lockstep),
      same_(std::move(same)),
      aside_([this] { outcome_ = same_(lockstep_.model_); }) {
  progress_.aside = &aside_;
  progress_.thread = this_thread_number();
}

void Lockstep::InPhases::go_on(const std::vector<RecordedCall>& calls) {
  progress_.calls = &calls;
  lockstep_.now_ = &progress_;
  if (!aside_.is_over()) aside_.go_on();
}

std::optional<Difference> Lockstep::InPhases::end(const Deed& deed) {
  progress_.is_whole = true;
  go_on(deed.calls);
  return Lockstep::end(progress_, deed, outcome_);
}

int Lockstep::status(const RecordedCall& foretold) {
  const auto* call = take(foretold);
  return call == nullptr ? refusal : static_cast<int>(call->status);
}

std::uint64_t Lockstep::thread_number() {
  return now_->aside == nullptr ? this_thread_number() : now_->thread;
}

void Lockstep::call_back() {
  if (has_callbacks_ && now_->aside != nullptr) now_->aside->pause();
}

model::Environment::Allocated Lockstep::malloc(DeviceIndex device, Bytes size) {
  const auto* call = take({.call = DriverCall::malloc, .device = device, .size = size});
  if (call == nullptr) return {refusal, {}};
  return {static_cast<int>(call->status), call->address};
}

int Lockstep::free(DeviceIndex device, Address address) {
  return status({.call = DriverCall::free, .device = device, .address = address});
}

model::Environment::Memory Lockstep::mem_info(DeviceIndex device) {
  const auto* call = take({.call = DriverCall::mem_info, .device = device});
  if (call == nullptr) return {refusal, {}, {}};
  return {static_cast<int>(call->status), call->memory.free, call->memory.total};
}

model::Environment::Number Lockstep::event_create(DeviceIndex device, std::uint64_t context) {
  const auto* call =
      take({.call = DriverCall::event_create, .device = device, .context = {context}});
  if (call == nullptr) return {refusal, 0};
  return {static_cast<int>(call->status), call->event.value};
}

int Lockstep::event_record(DeviceIndex device, std::uint64_t stream, std::uint64_t event) {
  return status(
      {.call = DriverCall::event_record, .device = device, .stream = stream, .event = {event}});
}

model::Environment::Queried Lockstep::event_query(DeviceIndex device, std::uint64_t event) {
  const auto* call = take({.call = DriverCall::event_query, .device = device, .event = {event}});
  if (call == nullptr) return {refusal, false};
  return {static_cast<int>(call->status), call->is_done};
}

int Lockstep::event_sync(DeviceIndex device, std::uint64_t event) {
  return status({.call = DriverCall::event_sync, .device = device, .event = {event}});
}

int Lockstep::ctx_record(DeviceIndex device, std::uint64_t event) {
  return status({.call = DriverCall::ctx_record, .device = device, .event = {event}});
}

int Lockstep::stream_sync(DeviceIndex device, std::uint64_t stream) {
  return status({.call = DriverCall::stream_sync, .device = device, .stream = stream});
}

int Lockstep::device_sync(DeviceIndex device) {
  return status({.call = DriverCall::device_sync, .device = device});
}

model::Environment::Number Lockstep::stream_ctx(DeviceIndex device, std::uint64_t stream) {
  const auto* call = take({.call = DriverCall::stream_ctx, .device = device, .stream = stream});
  if (call == nullptr) return {refusal, 0};
  return {static_cast<int>(call->status), call->context.value};
}

model::Environment::Number Lockstep::stream_id(DeviceIndex device, std::uint64_t stream) {
  const auto* call = take({.call = DriverCall::stream_id, .device = device, .stream = stream});
  if (call == nullptr) return {refusal, 0};
  return {static_cast<int>(call->status), call->stream_id};
}

}  // namespace cairn::testing
