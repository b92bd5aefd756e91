#include "allocator/release.h"

#include <new>

#include "allocator/error_text.h"
#include "allocator/event_progress.h"
#include "base/in_words.h"
#include "invariants/catalogue/hook.h"

namespace cairn {
namespace {

Result<Done, Error> wait_for_device(StreamKey stream, const DeviceContext& context) {
  const auto waited = context.state.noted(context.driver.device_sync(stream.device));
  if (waited) return Done{};
  CAIRN_PROBE("wait_for_device.failed");
  return Failure{cuda_error(DriverCall::device_sync, stream_in_words(stream.id), stream.device,
                            waited.error())};
}

// Waits for all work of the stream, by what reaches it.
Result<Done, Error> wait_for_stream(StreamKey stream, const DeviceContext& context) {
  if (is_retired(stream.id)) return wait_for_events_of(stream, context.state, context.driver);
  const auto failure = [&](DriverCall call, CudaStatus status) {
    return Failure{cuda_error(call, stream_in_words(stream.id), stream.device, status)};
  };
  const auto as = context.state.noted(context.streams.direct(stream));
  if (!as) {
    CAIRN_PROBE("wait_for_stream.stream_id_failed");
    return failure(DriverCall::stream_id, as.error());
  }
  if (!*as) return wait_for_device(stream, context);
  const auto waited = context.state.noted(context.driver.stream_sync(**as));
  if (waited) return Done{};
  if (waited.error() == CudaStatus::invalid_handle) {
    CAIRN_PROBE("wait_for_stream.made_good");
    return wait_for_device(stream, context);
  }
  CAIRN_PROBE("wait_for_stream.failed");
  return failure(DriverCall::stream_sync, waited.error());
}

// A step whose failure nobody is told of, nor that there is no memory for its words.
template <class Step>
void passing_over_failure(Step&& step) noexcept {
  try {
    static_cast<void>(step());
  } catch (const std::bad_alloc&) {
    CAIRN_PROBE("end.no_host_memory");
    return;
  }
}

// Whether work of the stream may use memory of its, and that matters before it goes back.
bool is_to_be_waited_for(StreamId stream, const Heap& heap) {
  return heap.deviations().waits_before_release && heap.may_be_in_use(stream);
}

void wait_until_idle(StreamId stream, const DeviceContext& context) noexcept {
  DeviceState& state = context.state;
  if (!is_to_be_waited_for(stream, state.heap)) return;
  passing_over_failure([&] { return wait_for_stream({state.device(), stream}, context); });
  state.heap.mark_idle(stream);
}

// Events that could not be waited for; those that stand for several blocks stand there in a row.
void destroy_events(const EventQueues::Queue& queue, const DeviceContext& context) {
  EventHandle last{};
  for (const PendingEvent& pending : queue) {
    if (context.state.lost) {
      CAIRN_PROBE("destroy_events.lost");
      return;
    }
    if (pending.event == last) continue;
    last = pending.event;
    static_cast<void>(
        context.state.noted(context.driver.event_destroy(pending.home->device, last)));
  }
}

Result<Done, Error> wait_before_release(StreamId stream, const DeviceContext& context) {
  Heap& heap = context.state.heap;
  if (!is_to_be_waited_for(stream, heap)) return Done{};
  auto waited = wait_for_stream({heap.device(), stream}, context);
  if (waited) heap.mark_idle(stream);
  return waited;
}

Result<Done, Error> release_each(const DeviceContext& context,
                                 const std::vector<const Segment*>& segments) {
  Heap& heap = context.state.heap;
  for (const Segment* segment : segments) {
    auto waited = wait_before_release(segment->stream, context);
    if (!waited) {
      CAIRN_PROBE("release.not_waited");
      return waited;
    }
    const auto freed = context.state.noted(context.driver.free(heap.device(), segment->span.begin));
    if (!freed) {
      CAIRN_PROBE("release.free_failed");
      const std::string span = in_words(segment->span);
      return Failure{cuda_error(DriverCall::free, span, heap.device(), freed.error())};
    }
    heap.ledger().driver_freed();
    heap.remove_segment(*segment);
  }
  return Done{};
}

void destroy_unused(const EventHome& home, const DeviceContext& context) {
  for (const EventHandle event : home.unused) {
    if (context.state.lost) {
      CAIRN_PROBE("end.lost_before_destroy");
      return;
    }
    static_cast<void>(context.state.noted(context.driver.event_destroy(home.device, event)));
  }
}

}  // namespace

Result<Done, Error> release_segments(const DeviceContext& context,
                                     const std::vector<const Segment*>& segments) {
  auto released = release_each(context, segments);
  context.state.heap.drop_empty_shares();
  return released;
}

Result<Done, Error> release_all_free(const DeviceContext& context) {
  return release_segments(context, context.state.heap.releasable());
}

void give_everything_back(const DeviceContext& context) noexcept {
  DeviceState& state = context.state;
  passing_over_failure([&] { return wait_for_all_events(state, context.driver); });
  for (const auto& [address, segment] : state.heap.segments()) {
    if (!state.lost) wait_until_idle(segment.stream, context);
    if (state.lost) {
      CAIRN_PROBE("end.lost_before_free");
      return;
    }
    static_cast<void>(state.noted(context.driver.free(state.device(), address)));
  }
  for (const auto& [place, home] : state.pools.homes()) destroy_unused(home, context);
  for (const auto& [stream, queue] : state.queues.all()) destroy_events(queue, context);
}

}  // namespace cairn
