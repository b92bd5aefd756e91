#include "testing/machine.h"

namespace cairn::testing {

Machine::Machine(const std::vector<simulator::DeviceOptions>& devices, const Options& options,
                 DriverHook& hook, const WrapDriver& wrap)
    : gpu_(devices),
      driver_(gpu_),
      faults_(driver_),
      recorder_(faults_),
      hooked_(hook, recorder_),
      wrapper_(wrap ? wrap(hooked_) : nullptr),
      counts_(devices.size()) {
  allocator_.emplace(wrapper_ ? *wrapper_ : hooked_, options);
}

void Machine::adopt(DeviceIndex device, const SegmentLayout& layout) {
  allocator().device(device).adopt_segment(layout);
  counts_[static_cast<std::size_t>(device)].out[layout.span.begin] = layout.span.size;
}

std::vector<RecordedCall> Machine::take_calls() {
  std::vector<RecordedCall> calls = recorder_.take_record();
  for (const RecordedCall& call : calls) {
    Counts& counts = counts_[static_cast<std::size_t>(call.device)];
    ++counts.calls[static_cast<std::size_t>(call.call)];
    if (call.status != CudaStatus::success) continue;
    if (call.call == DriverCall::malloc) counts.out[call.address] = call.size;
    if (call.call == DriverCall::free) counts.out.erase(call.address);
  }
  return calls;
}

std::vector<Span> Machine::spans_out(DeviceIndex device) const {
  std::vector<Span> spans;
  for (const auto& [address, size] : counts_[static_cast<std::size_t>(device)].out)
    spans.push_back({address, size});
  return spans;
}

std::uint64_t Machine::calls(DriverCall call, DeviceIndex device) const {
  return counts_[static_cast<std::size_t>(device)].calls[static_cast<std::size_t>(call)];
}

void Machine::reset_calls() {
  for (Counts& counts : counts_) counts.calls.fill(0);
}

}  // namespace cairn::testing
