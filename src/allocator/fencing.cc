#include "allocator/fencing.h"

#include "allocator/error_text.h"
#include "invariants/catalogue/hook.h"

namespace cairn {

Fencing::~Fencing() {
  for (const Taken& taken : taken_) taken.home->give_back(taken.event);
}

void Fencing::commit() noexcept {
  taken_.clear();
  context_.state.queues.append(std::move(queues_));
}

Result<Done, Error> Fencing::fence(StreamKey stream, Block* block) {
  if (is_retired(stream.id)) return share(stream, block);
  const auto as = context_.state.noted(context_.streams.direct(stream));
  if (!as) {
    CAIRN_PROBE("fence.stream_id_failed");
    return Failure{
        cuda_error(DriverCall::stream_id, stream_in_words(stream.id), stream.device, as.error())};
  }
  if (*as) {
    const auto fenced = fence_directly(stream, **as, block);
    if (!fenced) {
      CAIRN_PROBE("fence.direct_failed");
      return Failure{fenced.error()};
    }
    if (*fenced) return Done{};
  }
  return fence_context(stream, block);
}

Result<Done, Error> Fencing::share(StreamKey retired, Block* block) {
  const PendingEvent* fence = context_.state.queues.fence(retired);
  if (fence == nullptr) return Done{};
  queues_[retired].push_back({fence->event, fence->home, block});
  ++event_count_;
  return Done{};
}

Result<bool, Error> Fencing::fence_directly(StreamKey stream, StreamRef as, Block* block) {
  DeviceState& state = context_.state;
  const auto failure = [&](DriverCall call, CudaStatus status) {
    return Failure{cuda_error(call, stream_in_words(stream.id), stream.device, status)};
  };
  ContextHandle home{};
  if (as.handle > per_thread_stream_handle) {
    const auto of_stream = state.noted(context_.driver.stream_ctx(as));
    if (!of_stream && is_made_good(of_stream.error())) {
      CAIRN_PROBE("fence.stream_ctx_made_good");
      return false;
    }
    if (!of_stream) {
      CAIRN_PROBE("fence.stream_ctx_failed");
      return failure(DriverCall::stream_ctx, of_stream.error());
    }
    home = *of_stream;
  }
  const auto taken = take_event(stream.device, home);
  if (!taken) {
    CAIRN_PROBE("fence.no_event");
    return Failure{taken.error()};
  }
  const auto recorded = state.noted(context_.driver.event_record(as, taken->event));
  if (!recorded) {
    if (!is_made_good(recorded.error())) {
      CAIRN_PROBE("fence.event_record_failed");
      return failure(DriverCall::event_record, recorded.error());
    }
    CAIRN_PROBE("fence.event_record_made_good");
    give_back_last();
    return false;
  }
  queue(stream, *taken, block);
  return true;
}

bool Fencing::is_made_good(CudaStatus failure) const {
  return failure == CudaStatus::invalid_handle &&
         context_.state.heap.deviations().fences_without_handle;
}

Result<Done, Error> Fencing::fence_context(StreamKey stream, Block* block) {
  DeviceState& state = context_.state;
  const auto failure = [&](DriverCall call, CudaStatus status) {
    return Failure{cuda_error(call, "the device's work, with " + stream_in_words(stream.id),
                              stream.device, status)};
  };
  const auto taken = take_event(stream.device, {});
  if (!taken) {
    CAIRN_PROBE("fence_context.no_event");
    return Failure{taken.error()};
  }
  const auto recorded = state.noted(context_.driver.ctx_record(stream.device, taken->event));
  if (recorded) {
    const bool is_fence = block == nullptr;
    queue(is_fence ? stream : StreamKey{stream.device, whole_context_stream}, *taken, block);
    return Done{};
  }
  if (recorded.error() != CudaStatus::not_supported) {
    CAIRN_PROBE("fence_context.ctx_record_failed");
    return failure(DriverCall::ctx_record, recorded.error());
  }
  CAIRN_PROBE("fence_context.ctx_record_not_supported");
  give_back_last();
  const auto waited = state.noted(context_.driver.device_sync(stream.device));
  if (!waited) {
    CAIRN_PROBE("fence_context.device_sync_failed");
    return failure(DriverCall::device_sync, waited.error());
  }
  return Done{};
}

Result<Fencing::Taken, Error> Fencing::take_event(DeviceIndex device, ContextHandle context) {
  EventHome& home = context_.state.pools.home(device, context);
  if (taken_.size() == taken_.capacity()) taken_.reserve(2 * taken_.size() + 1);
  if (!home.unused.empty()) {
    taken_.push_back({&home, home.unused.back()});
    home.unused.pop_back();
    return taken_.back();
  }
  home.make_room();
  const auto event = context_.state.noted(context_.driver.event_create(device, context));
  if (!event) {
    CAIRN_PROBE("take_event.not_created");
    return Failure{cuda_error(DriverCall::event_create, "an event", device, event.error())};
  }
  ++home.created;
  taken_.push_back({&home, *event});
  return taken_.back();
}

void Fencing::give_back_last() noexcept {
  taken_.back().home->give_back(taken_.back().event);
  taken_.pop_back();
}

void Fencing::queue(StreamKey stream, const Taken& taken, Block* block) {
  queues_[stream].push_back({taken.event, taken.home, block});
  ++event_count_;
}

}  // namespace cairn
