#include "testing/bare_allocator.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cairn::testing {
namespace {

Bytes footprint(Bytes size) { return round_up(size, simulator::allocation_granularity); }

double part_of(Bytes memory, double fraction) {
  return fraction * static_cast<double>(memory.count);
}

}  // namespace

BareAllocator::BareAllocator(const Options& options, const GpuDecl& gpu)
    : memory_(gpu.memory),
      places_({{gpu.adjacent, gpu.reuse_addresses}}),
      options_(options),
      heap_(0, options) {
  set_memory_fraction(options.per_process_memory_fraction);
}

void BareAllocator::adopt_segment(const SegmentLayout& layout) {
  places_.allocate_at(0, layout.span);
  used_ += footprint(layout.span.size);
  heap_.adopt_segment(layout);
}

void BareAllocator::set_memory_fraction(double fraction) {
  limit_.reset();
  if (fraction < 1.0)
    limit_ = Bytes{static_cast<std::uint64_t>(std::round(part_of(memory_, fraction)))};
  heap_.set_limited(limit_.has_value());
}

ErrorCode BareAllocator::reconfigure(const Options& wanted) {
  if (wanted.expandable_segments) return ErrorCode::unsupported;
  options_ = wanted;
  heap_.reconfigure(wanted);
  return ErrorCode::none;
}

void BareAllocator::refuse_mallocs(std::uint64_t count) { refusals_ = std::max(refusals_, count); }

// ---- the rungs of an allocation ----

BareAllocator::Outcome BareAllocator::allocate(const HeapRequest& request) {
  if (request.requested >= request_limit) return {ErrorCode::out_of_memory, {}};
  if (request.requested == Bytes{0}) return {};
  process_events();
  if (!heap_.counts_searches() && !heap_.ledger().pending().is_any()) {
    if (const Block* block = heap_.hit(request.stream, request.requested, request.alignment))
      return {ErrorCode::none, block->ptr};
  }
  if (const Block* block = heap_.allocate(request)) return {ErrorCode::none, block->ptr};
  return climb(request);
}

BareAllocator::Outcome BareAllocator::climb(const HeapRequest& request) {
  if (limit_) release(heap_.garbage(*limit_));
  Asked asked = ask(request);
  if (asked == Asked::no_memory) {
    const Heap::OversizeRelease oversize = heap_.oversize_releasable(request);
    release(oversize.segments);
    if (oversize.is_enough) asked = ask(request);
  }
  return asked == Asked::no_memory ? last_rungs(request) : conclude(asked, request);
}

BareAllocator::Outcome BareAllocator::last_rungs(const HeapRequest& request) {
  wait_for_all_events();
  if (const Block* block = heap_.search_again(request)) return {ErrorCode::none, block->ptr};
  release(heap_.releasable());
  if (const Block* block = heap_.search_again(request)) return {ErrorCode::none, block->ptr};
  heap_.ledger().retried();
  return conclude(ask(request), request);
}

BareAllocator::Outcome BareAllocator::conclude(Asked asked, const HeapRequest& request) {
  if (asked == Asked::rejected) return {ErrorCode::rejected, {}};
  if (asked == Asked::no_memory) {
    heap_.ledger().ran_out_of_memory();
    return {ErrorCode::out_of_memory, {}};
  }
  const Block* block = heap_.allocate_in_new_segment(request, given_);
  if (block == nullptr) return {ErrorCode::unsupported, {}};
  return {ErrorCode::none, block->ptr};
}

BareAllocator::Asked BareAllocator::ask(const HeapRequest& request) {
  const Bytes size = heap_.segment_size(request);
  const Bytes held = heap_.ledger().reserved() + size;
  if (limit_ && held > *limit_) return Asked::no_memory;
  if (options_.throw_on_cudamalloc_oom) {
    const double border = part_of(memory_, options_.per_process_memory_fraction);
    if (held.count > static_cast<std::uint64_t>(border)) {
      heap_.ledger().rejected();
      return Asked::rejected;
    }
  }
  heap_.reserve_segment(request);
  const auto address = malloc(size);
  if (!address) return Asked::no_memory;
  heap_.ledger().driver_allocated();
  given_ = {*address, size};
  return Asked::given;
}

std::optional<Address> BareAllocator::malloc(Bytes size) {
  const bool is_refused = refusals_ > 0;
  if (is_refused) --refusals_;
  if (is_refused || size > memory_ - used_) {
    calls_.push_back({BareCall::Kind::malloc, size.count, {}});
    return std::nullopt;
  }
  used_ += footprint(size);
  const Address given = places_.allocate(0, size);
  calls_.push_back({BareCall::Kind::malloc, size.count, given});
  return given;
}

// ---- the way of segments back ----

void BareAllocator::release(const std::vector<const Segment*>& segments) {
  for (const Segment* segment : segments) {
    if (heap_.may_be_in_use(segment->stream)) {
      wait_for_stream(segment->stream);
      heap_.mark_idle(segment->stream);
    }
    const Span span = segment->span;
    calls_.push_back({BareCall::Kind::free, span.begin.value, {}});
    places_.give_back(span.begin);
    used_ -= footprint(span.size);
    heap_.ledger().driver_freed();
    heap_.remove_segment(*segment);
  }
  heap_.drop_empty_shares();
}

// A retired stream has no name any more: its events are waited for.
void BareAllocator::wait_for_stream(StreamId stream) {
  if (!is_retired(stream)) {
    clock_.sync({0, stream});
    calls_.push_back({BareCall::Kind::stream_sync, stream.value, {}});
    return;
  }
  const auto queue = queues_.find({0, stream});
  if (queue == queues_.end()) return;
  for (const Pending& pending : queue->second) clock_.wait_until(pending.done_at);
}

void BareAllocator::empty_cache() {
  wait_for_all_events();
  release(heap_.releasable());
}

// ---- uses and events ----

void BareAllocator::free(Block& block, std::optional<StreamKey> on) {
  const auto lane = heap_.lane_hints().at(block.ptr);
  if (!on && lane && heap_.free_unused(*lane, block.ptr)) return;
  if (on) heap_.add_use(block, *on);
  std::int32_t events = 0;
  for (const StreamKey& user : heap_.uses(block)) events += fence(user, block);
  if (events == 0) return heap_.free(block);
  heap_.free_after_events(block, events);
}

// How many events the block has to wait for because of the stream: one, or none where the stream is
// retired and its work is over.
std::int32_t BareAllocator::fence(StreamKey user, Block& block) {
  if (!is_retired(user.id)) {
    queues_[user].push_back({++events_, clock_.done_at(user), &block});
    return 1;
  }
  const auto queue = queues_.find(user);
  if (queue == queues_.end()) return 0;
  Pending shared = queue->second.back();  // The fence stands last.
  shared.block = &block;
  queue->second.push_back(shared);
  return 1;
}

void BareAllocator::forget_stream(StreamKey stream) {
  const std::uint64_t done_at = clock_.done_at(stream);
  clock_.forget(stream);
  if (!queues_.contains(stream) && !heap_.knows(stream)) return;
  const StreamKey retired{stream.device, retired_stream(++retired_)};
  heap_.retire_stream(stream, retired.id);
  queues_[stream].push_back({++events_, done_at, nullptr});
  auto queue = queues_.extract(stream);
  queue.key() = retired;
  queues_.insert(std::move(queue));
}

void BareAllocator::complete_first(Queue& queue) {
  const std::uint64_t event = queue.front().event;
  while (!queue.empty() && queue.front().event == event) {
    Block* block = queue.front().block;
    queue.pop_front();
    if (block != nullptr) heap_.event_done(*block);
  }
}

void BareAllocator::process_events() {
  if (queues_.empty()) return;
  for (auto& [stream, queue] : queues_) {
    while (!queue.empty() && clock_.is_past(queue.front().done_at)) complete_first(queue);
  }
  drop_empty_queues();
}

void BareAllocator::wait_for_all_events() {
  heap_.ledger().synced_all_streams();
  for (auto& [stream, queue] : queues_) {
    while (!queue.empty()) {
      clock_.wait_until(queue.front().done_at);
      complete_first(queue);
    }
  }
  drop_empty_queues();
}

void BareAllocator::drop_empty_queues() {
  std::erase_if(queues_, [](const auto& queue) { return queue.second.empty(); });
}

}  // namespace cairn::testing
