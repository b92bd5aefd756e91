#include "testing/heap_run.h"

#include <algorithm>

#include "invariants/catalogue/hook.h"
#include "testing/heap_runner.h"
#include "testing/op_decoder.h"
#include "testing/op_values.h"
#include "testing/printer.h"

namespace cairn::testing {
namespace {

constexpr std::uint64_t operations_between_maps = 4096;
constexpr std::uint64_t first_handle = 0x5000;  // As on the simulated GPU.
constexpr std::uint64_t handle_step = 0x10;

// Streams go by their handles and are not blocking, devices are not lost, the segment that is there
// at the start is on device 0, and what PyTorch's ways are is up to the allocator.
Setup of_a_heap(Setup setup) {
  constexpr int left_out =
      setup_switch::identity | setup_switch::lost_devices | setup_switch::pytorch_defects;
  setup.switches &= static_cast<std::uint8_t>(~left_out);
  setup.blocking = 0;
  setup.segment = static_cast<std::uint8_t>(setup.segment - setup.segment % devices_of(setup));
  return setup;
}

std::vector<Bytes> memory_of(const Setup& setup) {
  std::vector<Bytes> memory;
  memory.reserve(static_cast<std::size_t>(devices_of(setup)));
  for (DeviceIndex device = 0; device < devices_of(setup); ++device)
    memory.push_back(gpu_of(setup, device).memory);
  return memory;
}

std::string describe(ErrorCode code, Address address) {
  if (code != ErrorCode::none) return std::string("failure: ") + to_string(code);
  return "success" + (address == Address{} ? "" : " at " + print_address(address));
}

}  // namespace

HeapWorld::HeapWorld(const Setup& of_all)
    : setup(of_a_heap(of_all)),
      declarations(OpDecoder(setup).declarations()),
      options(parse_settings(settings_of(setup)).options),
      memory(memory_of(setup)) {}

HeapRunner::HeapRunner(const HeapWorld& world, const HeapRunOptions& options, HeapStory* story)
    : world_(world),
      options_(options),
      story_(story),
      most_live_(world.setup.most_live % 64 == 0 ? 64 : world.setup.most_live % 64),
      most_streams_(3 + world.setup.streams % 4),
      bare_(world.options, gpu_of(world.setup, 0)),
      model_(world.options, world.memory),
      by_device_(world.memory.size()),
      next_handle_(first_handle) {
  streams_.push_back({{0, legacy_default_stream}, 0, true});
  std::optional<SegmentDecl> segment;
  std::vector<BlockDecl> blocks;
  for (const Statement& statement : world.declarations) {
    if (const auto* made = std::get_if<MakeStream>(&statement.operation))
      add_stream(*made->gpu, {});
    if (const auto* declared = std::get_if<SegmentDecl>(&statement.operation)) segment = *declared;
    if (const auto* block = std::get_if<BlockDecl>(&statement.operation)) blocks.push_back(*block);
  }
  if (segment) adopt(*segment, blocks);
  list_streams();
}

void HeapRunner::adopt(const SegmentDecl& declared, const std::vector<BlockDecl>& blocks) {
  const Span span{declared.address, declared.size};
  SegmentLayout layout{span, declared.pool, legacy_default_stream, {}};
  model::InitialSegment same{0, span, declared.pool, legacy_default_stream, {}};
  Address address = span.begin;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool is_live = blocks[i].name.has_value();
    layout.blocks.push_back({blocks[i].size, is_live});
    same.blocks.push_back({blocks[i].size, is_live});
    if (is_live) live_.push_back({address, blocks[i].size, -1 - static_cast<int>(i), 0});
    address = address + blocks[i].size;
  }
  bare_.adopt_segment(layout);
  model_.model().add_initial_segment(same);
}

// Under a new handle, unless one is given.
int HeapRunner::add_stream(DeviceIndex device, std::optional<std::uint64_t> handle) {
  const int number = static_cast<int>(streams_.size());
  if (!handle) {
    handle = next_handle_;
    next_handle_ += handle_step;
  }
  streams_.push_back({{device, {*handle}}, number, true});
  alive_.push_back(number);
  return number;
}

void HeapRunner::list_streams() {
  for (std::vector<int>& streams : by_device_) streams.clear();
  for (const int number : alive_)
    by_device_[static_cast<std::size_t>(stream(number).key.device)].push_back(number);
  const bool takes_default = (world_.setup.switches & setup_switch::default_streams) != 0;
  if (takes_default || by_device_.front().empty()) by_device_.front().push_back(0);
}

HeapRun HeapRunner::run(const std::vector<Op>& ops) {
  for (auto op = ops.begin(); op != ops.end() && goes_on(); ++op) {
    const auto kind = static_cast<std::size_t>(op->kind);
    ++run_.histogram.executed[kind];
    ++run_.operations;
    if (!execute(*op)) ++run_.histogram.without_effect[kind];
    if (goes_on()) check_operation();
  }
  if (goes_on()) check_maps();
  if (goes_on()) wind_down();
  return std::move(run_);
}

void HeapRunner::found(std::string expected, std::string instead) {
  if (goes_on()) run_.finding = {std::move(expected), std::move(instead)};
}

void HeapRunner::compare_outcomes(const model::Outcome& foretold,
                                  const BareAllocator::Outcome& outcome) {
  tell([&](HeapStory& story) { story.ended(foretold.code); });
  if (auto difference = model_.end()) found(difference->expected, difference->found);
  if (foretold.code == outcome.code && foretold.address == outcome.address) return;
  found(describe(foretold.code, foretold.address), describe(outcome.code, outcome.address));
}

void HeapRunner::check_handed_out(const HeapRequest& request, Address address) {
  const Block* block = bare_.heap().find_live(address);
  const bool fits = block != nullptr && block->ptr == address && block->allocated &&
                    block->size >= request.requested && block->stream == request.stream &&
                    block->requested_size == request.requested &&
                    is_aligned(address, request.alignment);
  if (!fits) found("a live block that serves the request", "none at " + print_address(address));
}

void HeapRunner::check_operation() {
  bare_.clear_calls();
  Heap& heap = bare_.heap();
  if (options_.meddle) options_.meddle(heap, run_.operations);
  if (options_.checkers && !invariants::wanted(invariants::Cost::heap))
    invariants::check(heap, invariants::Cost::heap);
  check_violations();
  if (heap.live_count() != live_.size())
    found(std::to_string(live_.size()) + " live blocks", std::to_string(heap.live_count()));
  const DeviceStats expected = model_.model().stats(0);
  const DeviceStats stats = heap.ledger().read();
  if (expected != stats) {
    const auto difference = compare(expected, stats);
    found(difference->expected, difference->found);
  }
  const bool is_due = run_.operations % operations_between_maps == 0;
  if (options_.checkers || is_due) check_maps();
}

void HeapRunner::check_violations() {
  if (recorder_.violations().empty()) return;
  found("all invariants", invariants::to_string(recorder_.violations().front()));
}

void HeapRunner::check_maps() {
  const auto difference = compare(model_.model().map(0), bare_.heap().map());
  if (difference) found(difference->expected, difference->found);
}

void HeapRunner::wind_down() {
  sync_all();
  poll();
  while (!live_.empty() && goes_on()) {
    free(live_.size() - 1, {});
    check_operation();
  }
  if (goes_on()) empty_cache();
  if (goes_on()) check_operation();
  if (goes_on()) check_nothing_left();
}

void HeapRunner::check_nothing_left() {
  const Heap& heap = bare_.heap();
  if (heap.segments().empty() && heap.ledger().reserved() == Bytes{0}) return;
  found("nothing left at the end", std::to_string(heap.segments().size()) + " segments, " +
                                       std::to_string(heap.ledger().reserved().count) + " bytes");
}

HeapRun run_heap(const Tape& tape, const HeapRunOptions& options) {
  const HeapWorld world(tape.setup);
  HeapRun run = HeapRunner(world, options, nullptr).run(tape.ops);
  if (run.holds()) return run;
  HeapStory story(world.declarations);  // Told only now, as words take most of the time.
  static_cast<void>(HeapRunner(world, options, &story).run(tape.ops));
  run.program = story.program();
  return run;
}

std::string in_words(const HeapRun& run) {
  if (run.holds())
    return "nothing was found in " + std::to_string(run.operations) + " operations\n";
  return "operation " + std::to_string(run.operations) + "\nexpected: " + run.finding->expected +
         "\nfound: " + run.finding->found + "\nprogram:\n" + print_program(run.program);
}

}  // namespace cairn::testing
