#include "simulator/libcuda/machine.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "driver/call_text.h"
#include "simulator/libcuda/environment.h"

namespace cairn::simulator {
namespace {

std::unique_ptr<Machine>& the_machine() {
  // Programs call CUDA to their very end.
  static auto* const machine = new std::unique_ptr<Machine>;
  return *machine;
}

std::atomic<std::uint64_t>& machines_ended() {
  static std::atomic<std::uint64_t> count{0};
  return count;
}

}  // namespace

Machine::Machine(const std::vector<DeviceOptions>& devices)
    : gpu(devices), primary_holds(devices.size()) {
  for (DeviceIndex device = 0; device < gpu.device_count(); ++device) add_context(device, {});
}

CUcontext Machine::add_context(DeviceIndex device, ContextHandle handle) {
  contexts_.push_back({device, handle});
  return &contexts_.back();
}

bool Machine::has(CUcontext context) const {
  return std::any_of(contexts_.begin(), contexts_.end(),
                     [context](const CUctx_st& each) { return &each == context; });
}

CUcontext Machine::context_of(DeviceIndex device, ContextHandle handle) {
  for (CUctx_st& context : contexts_) {
    if (context.device == device && context.handle == handle) return &context;
  }
  return nullptr;
}

std::optional<StreamRef> Machine::stream_of(CUstream stream, CUcontext current) const {
  const auto handle = reinterpret_cast<std::uint64_t>(stream);
  if (handle <= per_thread_stream_handle) {
    if (current->handle != ContextHandle{}) return std::nullopt;
    return StreamRef{current->device, handle};
  }
  const auto found = streams_.find(handle);
  return StreamRef{found == streams_.end() ? current->device : found->second.device, handle};
}

StreamFacts Machine::facts_of(StreamRef stream) const {
  const auto found = streams_.find(stream.handle);
  return found == streams_.end() ? StreamFacts{stream.device} : found->second;
}

DeviceIndex Machine::device_of(EventHandle event, CUcontext current) const {
  const auto found = events_.find(event.value);
  return found == events_.end() ? current->device : found->second.device;
}

void Machine::note(const RecordedCall& call) {
  if (untold_calls) *untold_calls += text_of(call) + "\n";
}

EventFacts* Machine::facts_of(EventHandle event) {
  const auto found = events_.find(event.value);
  return found == events_.end() ? nullptr : &found->second;
}

bool make_machine() {
  const std::lock_guard lock(machine_mutex());
  if (the_machine() != nullptr) return true;
  const auto settings = machine_settings();
  if (!settings) return false;
  the_machine() = std::make_unique<Machine>(settings->devices);
  for (const FaultPlan& plan : settings->faults) the_machine()->faults.add(plan);
  return true;
}

void end_machine() {
  const std::lock_guard lock(machine_mutex());
  the_machine().reset();
  ++machines_ended();
}

std::vector<CUcontext>& context_stack() {
  // A thread's own objects end before the destructors of libraries, which may call CUDA too: these
  // find an empty one.
  static thread_local std::vector<CUcontext>* stack = nullptr;
  struct Ender {
    ~Ender() { delete std::exchange(stack, nullptr); }
  };
  static thread_local const Ender ender;
  static_cast<void>(ender);
  static thread_local std::uint64_t of_machine = 0;
  if (stack == nullptr) stack = new std::vector<CUcontext>;
  // Contexts of a machine that has ended are no more.
  if (of_machine != machines_ended()) stack->clear();
  of_machine = machines_ended();
  return *stack;
}

std::mutex& machine_mutex() {
  static std::mutex mutex;
  return mutex;
}

void conclude(Machine& machine) {
  for (const RecordedCall& call : machine.calls.take_record()) machine.note(call);
  const std::size_t count = machine.gpu.violation_count();
  if (count == machine.violations_told) return;
  const JudgeReaction reaction = judge_reaction();
  const auto violations = machine.gpu.violations();
  for (; machine.violations_told < count; ++machine.violations_told) {
    if (reaction == JudgeReaction::quiet) continue;
    const std::string& words = violations[machine.violations_told].message;
    std::fprintf(stderr, "cairn: simulated CUDA: violation: %s\n", words.c_str());
  }
  if (reaction == JudgeReaction::abort) std::abort();
}

Machine* machine() { return the_machine().get(); }

}  // namespace cairn::simulator
