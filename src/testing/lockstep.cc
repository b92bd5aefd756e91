#include "testing/lockstep.h"

#include "testing/printer.h"

namespace cairn::testing {
namespace {

// What a call is told that the allocator never made: it ends any attempt soon.
constexpr int refusal = static_cast<int>(CudaStatus::out_of_memory);

bool asks_the_same(const RecordedCall& a, const RecordedCall& b) {
  if (a.call != b.call || a.device != b.device) return false;
  if (a.call == DriverCall::malloc) return a.size == b.size;
  return a.call != DriverCall::free || a.address == b.address;
}

std::string describe_end(ErrorCode code, Address address) {
  if (code != ErrorCode::none) return std::string("failure: ") + to_string(code);
  return "success" + (address == Address{} ? "" : " at " + print_address(address));
}

}  // namespace

void Lockstep::begin(const Deed& deed) {
  calls_ = &deed.calls;
  next_call_ = 0;
  difference_.reset();
}

std::optional<Difference> Lockstep::end(const Deed& deed, const model::Outcome& foretold) {
  if (!difference_ && next_call_ < deed.calls.size())
    difference_ = {"no more driver calls", describe(deed.calls[next_call_])};
  if (!difference_ && (foretold.code != deed.code || foretold.address != deed.address))
    difference_ = {describe_end(foretold.code, foretold.address),
                   describe_end(deed.code, deed.address)};
  return difference_;
}

std::optional<Difference> Lockstep::allocate(const model::Request& request, const Deed& deed) {
  begin(deed);
  return end(deed, model_.allocate(request));
}

std::optional<Difference> Lockstep::free(Address address, std::optional<Bytes> size,
                                         std::optional<StreamId> stream, const Deed& deed) {
  begin(deed);
  return end(deed, {model_.free(address, size, stream), {}});
}

std::optional<Difference> Lockstep::empty_cache(const Deed& deed) {
  begin(deed);
  return end(deed, {model_.empty_cache(), {}});
}

const RecordedCall* Lockstep::take(const RecordedCall& foretold) {
  if (difference_) return nullptr;
  const bool has_more = next_call_ < calls_->size();
  if (has_more && asks_the_same((*calls_)[next_call_], foretold)) return &(*calls_)[next_call_++];
  difference_ = {describe(foretold),
                 has_more ? describe((*calls_)[next_call_]) : "no more driver calls"};
  return nullptr;
}

model::Environment::Allocated Lockstep::malloc(DeviceIndex device, Bytes size) {
  const auto* call = take({.call = DriverCall::malloc, .device = device, .size = size});
  if (call == nullptr) return {refusal, {}};
  return {static_cast<int>(call->status), call->address};
}

int Lockstep::free(DeviceIndex device, Address address) {
  const auto* call = take({.call = DriverCall::free, .device = device, .address = address});
  return call == nullptr ? refusal : static_cast<int>(call->status);
}

int Lockstep::mem_info(DeviceIndex device) {
  const auto* call = take({.call = DriverCall::mem_info, .device = device});
  return call == nullptr ? refusal : static_cast<int>(call->status);
}

}  // namespace cairn::testing
