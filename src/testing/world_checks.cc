// What must be true: what the Program expects, and what must hold whatever it says.
#include <algorithm>
#include <tuple>

#include "heap/heap.h"
#include "invariants/catalogue/hook.h"
#include "invariants/checkers/checkers.h"
#include "testing/parser_words.h"
#include "testing/printer.h"
#include "testing/world_impl.h"

namespace cairn::testing {
namespace {

std::string describe_block(const std::string& name, Bytes size, Bytes requested, StreamId stream) {
  return "'" + name + "' of " + print_size(size) + ", requested " +
         std::to_string(requested.count) + ", stream " + print_address({stream.value});
}

std::string print_side(const std::vector<Term>& left, Comparison comparison,
                       const std::vector<Term>& right) {
  Statement statement;
  statement.operation = Expect{left, comparison, right};
  return print_statement(statement).substr(std::string_view("expect ").size());
}

}  // namespace

StepResult World::Impl::act(const Reset& reset) {
  if (reset.what == ResetWhat::calls) {
    machine_.reset_calls();
    return ok();
  }
  const bool of_peaks = reset.what == ResetWhat::peak;
  return conclude(operate(
      [=](AllDevices& allocator) -> Result<Done, Error> {
        for (DeviceIndex index = 0; index < allocator.device_count(); ++index) {
          DeviceAllocator& device = allocator.device(index);
          of_peaks ? device.reset_peak_stats() : device.reset_accumulated_stats();
        }
        return Done{};
      },
      [=](model::Model& model) {
        of_peaks ? model.reset_peak_stats() : model.reset_accumulated_stats();
        return ErrorCode::none;
      }));
}

StepResult World::Impl::act(const Expect& expect) {
  const Expectations::Sight sight{[this](DeviceIndex device) { return read_stats(device); },
                                  [this](DeviceIndex device) { return read_map(device); }};
  const Expectations expectations(machine_, names_, streams_, out_of_memory_, sight);
  const auto left = expectations.sum(expect.left);
  if (!left) return mistake(left.error());
  const auto right = expectations.sum(expect.right);
  if (!right) return mistake(right.error());
  if (holds(*left, expect.comparison, *right)) return ok();
  return finding({print_side(expect.left, expect.comparison, expect.right),
                  to_string(*left) + " on the left, " + to_string(*right) + " on the right"});
}

StepResult World::Impl::act(const ExpectSegment& expected) {
  const DeviceIndex device = expected.gpu.value_or(current_device());
  if (auto missing = missing_device(device)) return *missing;
  const auto of = stream(expected.stream, device);
  if (!of) return of.error();
  SegmentInfo wanted;
  wanted.device = device;
  wanted.address = expected.address.value;
  wanted.size_bytes = expected.size.count;
  wanted.stream = streams_.id(*of).value;
  wanted.is_large = expected.pool == PoolKind::large;
  for (const SegmentInfo& segment : machine_.allocator().device(device).map()) {
    if (segment.address != wanted.address) continue;
    if (describe(segment) != describe(wanted))
      return finding({describe(wanted), describe(segment)});
    expected_segment_ = ExpectedSegment{segment};
    return ok();
  }
  return finding({describe(wanted), "no segment there"});
}

StepResult World::Impl::act(const ExpectBlock& expected) {
  if (!expected_segment_) return mistake("an expect_block follows its expect_segment");
  const auto& blocks = expected_segment_->segment.blocks;
  const std::size_t next = expected_segment_->next_block++;
  const std::string wanted =
      "a block of " + print_size(expected.size) + " " + to_string(expected.state);
  if (next >= blocks.size()) return finding({wanted, "no more blocks"});
  const BlockInfo& block = blocks[next];
  if (block.size_bytes != expected.size.count || block.state != expected.state)
    return finding({wanted, describe(block)});
  if (expected.requested && block.requested_size_bytes != expected.requested->count)
    return finding(
        {wanted + ", requested " + std::to_string(expected.requested->count), describe(block)});
  return ok();
}

StepResult World::Impl::check_all(StepResult result, const invariants::Recorder& recorder) {
  if (!now_.operated) return check_gpu().value_or(std::move(result));
  ++operations_;
  if (options_.meddle) options_.meddle(machine_.allocator());
  const bool is_time_for_maps =
      options_.steps_between_maps != 0 && operations_ % options_.steps_between_maps == 0;
  const bool with_maps = is_time_for_maps || now_.was_parallel;
  if (auto found = check_gpu()) return *found;
  if (auto difference = check_allocator(recorder, options_.checkers))
    return finding(*std::move(difference));
  if (auto difference = check_lockstep(with_maps)) return finding(*std::move(difference));
  if (auto difference = check_uses(with_maps || now_.changed_streams))
    return finding(*std::move(difference));
  return result;
}

std::optional<StepResult> World::Impl::check_gpu() {
  const auto mistakes = machine_.gpu().mistakes();
  if (mistakes.size() > gpu_mistakes_) {
    StepResult result = mistake(mistakes[gpu_mistakes_]);
    gpu_mistakes_ = mistakes.size();
    if (now_.next_segment_place) std::tie(result.line, result.column) = *now_.next_segment_place;
    return result;
  }
  if (machine_.gpu().violation_count() == excused_violations_) return std::nullopt;
  const std::vector<simulator::Violation> violations = machine_.gpu().violations();
  const auto found = std::find_if(
      violations.begin() + static_cast<std::ptrdiff_t>(excused_violations_), violations.end(),
      [&](const simulator::Violation& violation) { return !is_excused(violation.kind); });
  excused_violations_ = static_cast<std::size_t>(found - violations.begin());
  if (found == violations.end()) return std::nullopt;
  return finding({"violations == 0", found->message});
}

// PyTorch's ways are to let go of memory too early, and to name streams that are dead. A block that
// such a stream keeps is live when the allocator ends.
bool World::Impl::is_excused(simulator::ViolationKind kind) const {
  using simulator::ViolationKind;
  if (!settings_.options.pytorch_defects) return false;
  if (kind == ViolationKind::freed_while_held) return has_stuck_;
  return kind == ViolationKind::unordered_reuse || kind == ViolationKind::freed_while_in_use ||
         kind == ViolationKind::dead_handle;
}

std::optional<Difference> World::Impl::check_allocator(const invariants::Recorder& recorder,
                                                       bool thoroughly) {
  for (DeviceIndex device = 0; device < device_count() && thoroughly; ++device) {
    machine_.allocator().device(device).inspect([&](const DeviceState& state) {
      invariants::check(state, invariants::Cost::heap);
      invariants::check_segments_from_driver(state.heap, machine_.spans_out(device));
    });
  }
  if (auto difference = reported_by(recorder)) return difference;
  return thoroughly ? check_live_blocks() : std::nullopt;
}

std::optional<Difference> World::Impl::reported_by(const invariants::Recorder& recorder) {
  if (recorder.violations().empty()) return std::nullopt;
  const invariants::Violation& violation = recorder.violations().front();
  return Difference{std::string(violation.invariant.id) + ": " + violation.invariant.words,
                    violation.what};
}

// The promised state: whatever the last operation did or failed to do, live blocks are as they were
// when they were handed out.
std::optional<Difference> World::Impl::check_live_blocks() {
  std::size_t count = 0;
  for (DeviceIndex device = 0; device < device_count(); ++device)
    count += machine_.allocator().device(device).inspect(
        [](const Heap& heap) { return heap.live_count(); });
  if (count != names_.live().size())
    return Difference{std::to_string(names_.live().size()) + " live blocks",
                      std::to_string(count) + " live blocks"};
  for (const auto& [address, entry] : names_.live())
    if (auto difference = check_live_block(entry->first, entry->second)) return difference;
  return std::nullopt;
}

std::optional<Difference> World::Impl::check_live_block(const std::string& name,
                                                        const Range& range) {
  return machine_.allocator()
      .device(range.device)
      .inspect([&](const Heap& heap) -> std::optional<Difference> {
        const Block* block = heap.find_live(range.span.begin);
        const bool is_same = block != nullptr && block->size == range.span.size &&
                             block->requested_size == range.requested &&
                             block->stream == range.stream;
        if (is_same) return std::nullopt;
        return Difference{describe_block(name, range.span.size, range.requested, range.stream),
                          block == nullptr ? "no live block at " + print_address(range.span.begin)
                                           : describe_block(name, block->size,
                                                            block->requested_size, block->stream)};
      });
}

std::optional<Difference> World::Impl::check_lockstep(bool with_maps) {
  for (DeviceIndex device = 0; device < device_count() && lockstep_; ++device) {
    const DeviceAllocator& allocator = machine_.allocator().device(device);
    const model::Model& model = lockstep_->model();
    if (auto difference = compare(model.stats(device), allocator.stats())) return difference;
    if (!with_maps) continue;
    if (auto difference = compare(model.map(device), allocator.map())) return difference;
  }
  return std::nullopt;
}

std::optional<Difference> World::Impl::check_uses(bool of_all) {
  if (!lockstep_) return std::nullopt;
  if (!of_all) {
    const Range* range = now_.used_block ? names_.live_at(*now_.used_block) : nullptr;
    return range == nullptr ? std::nullopt : check_uses_of(*range);
  }
  for (const auto& [address, entry] : names_.live())
    if (auto difference = check_uses_of(entry->second)) return difference;
  return std::nullopt;
}

std::optional<Difference> World::Impl::check_uses_of(const Range& range) {
  const Address address = range.span.begin;
  const std::vector<StreamKey> expected = lockstep_->model().uses(address);
  return machine_.allocator()
      .device(range.device)
      .inspect([&](const Heap& heap) -> std::optional<Difference> {
        const Block* block = heap.find_live(address);
        const std::span<const StreamKey> found =
            block == nullptr ? std::span<const StreamKey>() : heap.uses(*block);
        if (std::ranges::equal(expected, found)) return std::nullopt;
        const std::string where = "block " + print_address(address) + ": ";
        return Difference{where + describe(expected), where + describe(found)};
      });
}

}  // namespace cairn::testing
