#include "allocator/retry_ladder.h"

#include <algorithm>

#include "allocator/error_text.h"
#include "allocator/event_progress.h"
#include "allocator/memory_report.h"
#include "allocator/release.h"
#include "base/in_words.h"
#include "invariants/catalogue/hook.h"

namespace cairn {

const RetryLadder::Rung RetryLadder::rungs[] = {
    &RetryLadder::call_back,
    &RetryLadder::search_called_back,
    &RetryLadder::collect_garbage,
    &RetryLadder::ask,
    &RetryLadder::take_segment,
    &RetryLadder::release_oversize,
    &RetryLadder::ask,
    &RetryLadder::take_segment,
    &RetryLadder::wait_for_events,
    &RetryLadder::release_everything,
    &RetryLadder::ask_at_last,
    &RetryLadder::take_segment,
    &RetryLadder::fail,
};

void RetryLadder::climb(const DeviceContext& context) {
  CAIRN_AUDIT(context.state);
  while (!is_over()) {
    const Rung rung = rungs[rung_++];
    if ((this->*rung)(context) == Next::act) return;
  }
}

void RetryLadder::act(DeviceIndex device, Driver& driver) {
  if (calls_back_) {
    called_back_freed_ = callbacks_.free_memory(device, complaints_);
  } else {
    answer_ = driver.malloc(device, asked_);
  }
  calls_back_ = false;
}

RetryLadder::Next RetryLadder::over(Result<Address, Error> result) {
  result_ = std::move(result);
  return Next::rung;
}

RetryLadder::Next RetryLadder::search(Heap& heap) {
  const Block* block = heap.search_again(request_);
  return block == nullptr ? Next::rung : over(block->ptr);
}

RetryLadder::Next RetryLadder::call_back(const DeviceContext&) {
  calls_back_ = callbacks_.can_free_memory();
  return calls_back_ ? Next::act : Next::rung;
}

RetryLadder::Next RetryLadder::search_called_back(const DeviceContext& context) {
  if (context.state.lost) {
    CAIRN_PROBE("ladder.lost_while_called_back");
    return over(Failure{device_is_lost(context.state)});
  }
  return called_back_freed_ ? search(context.state.heap) : Next::rung;
}

RetryLadder::Next RetryLadder::collect_garbage(const DeviceContext& context) {
  if (!context.state.limit) return Next::rung;
  const auto released = release_segments(context, context.state.heap.garbage(*context.state.limit));
  if (released) return Next::rung;
  CAIRN_PROBE("ladder.garbage_not_released");
  return over(Failure{released.error()});
}

// Whether the limits let the driver be asked; the room for its answer is made before.
RetryLadder::Next RetryLadder::ask(const DeviceContext& context) {
  if (!may_ask_) return Next::rung;
  DeviceState& state = context.state;
  const Bytes size = state.heap.segment_size(request_);
  const Bytes held = state.reserved() + size;
  if (state.limit && held > *state.limit) {
    CAIRN_PROBE("ladder.limit_reached");
    return Next::rung;
  }
  if (state.rejects && held > state.rejected_above) {
    state.heap.ledger().rejected();
    CAIRN_PROBE("ladder.rejected");
    return over(Failure{rejected(state, request_, context.driver, complaints_)});
  }
  state.heap.reserve_segment(request_);
  asked_ = size;
  if (!state.asks_unlocked) return Next::rung;
  state.asked += size;
  return Next::act;
}

RetryLadder::Next RetryLadder::take_segment(const DeviceContext& context) {
  DeviceState& state = context.state;
  if (asked_ == Bytes{0}) return Next::rung;
  if (answer_) {
    state.asked -= asked_;
  } else {
    answer_ = context.driver.malloc(state.device(), asked_);
  }
  const bool was_lost = state.lost.has_value();  // By another thread; what was given is left alone.
  const auto given = state.noted(*answer_);
  answer_.reset();
  if (was_lost) {
    CAIRN_PROBE("ladder.lost_while_asked");
    return over(Failure{device_is_lost(state)});
  }
  if (given) return hand_out(context, *given);
  const Bytes size = std::exchange(asked_, Bytes{0});
  if (given.error() == CudaStatus::out_of_memory) {
    CAIRN_PROBE("ladder.malloc_out_of_memory");
    return Next::rung;
  }
  CAIRN_PROBE("ladder.malloc_failed");
  return over(
      Failure{cuda_error(DriverCall::malloc, in_words(size), state.device(), given.error())});
}

RetryLadder::Next RetryLadder::hand_out(const DeviceContext& context, Address segment) {
  Heap& heap = context.state.heap;
  const Span span{segment, asked_};
  if (!heap.can_add(span)) {
    CAIRN_PROBE("ladder.impossible_segment");
    return over(Failure{impossible_segment(heap.device(), span)});
  }
  try {
    heap.reserve_segment(request_);  // Another thread may have taken the room.
  } catch (...) {
    CAIRN_PROBE("ladder.no_host_memory");
    static_cast<void>(context.state.noted(context.driver.free(heap.device(), segment)));
    throw;
  }
  heap.ledger().driver_allocated();
  const Block* block = heap.allocate_in_new_segment(request_, span);
  if (block != nullptr) return over(block->ptr);
  if (heap.segment_size(request_) > span.size) return ask_again();
  CAIRN_PROBE("ladder.misaligned_segment");
  return over(Failure{misaligned_segment(heap.device(), span, request_.alignment)});
}

// The settings changed while the driver was asked, and the request needs more now.
RetryLadder::Next RetryLadder::ask_again() {
  asked_ = Bytes{0};
  may_ask_ = true;
  rung_ = static_cast<std::size_t>(std::ranges::find(rungs, &RetryLadder::ask) - rungs);
  return Next::rung;
}

RetryLadder::Next RetryLadder::release_oversize(const DeviceContext& context) {
  const Heap::OversizeRelease oversize = context.state.heap.oversize_releasable(request_);
  const auto released = release_segments(context, oversize.segments);
  if (!released) {
    CAIRN_PROBE("ladder.oversize_not_released");
    return over(Failure{released.error()});
  }
  may_ask_ = oversize.is_enough;
  return Next::rung;
}

RetryLadder::Next RetryLadder::wait_for_events(const DeviceContext& context) {
  Heap& heap = context.state.heap;
  const auto waited = wait_for_all_events(context.state, context.driver);
  if (!waited) {
    CAIRN_PROBE("ladder.events_not_waited");
    return over(Failure{waited.error()});
  }
  return search_if(heap.deviations().searches_after_waiting, heap);
}

RetryLadder::Next RetryLadder::release_everything(const DeviceContext& context) {
  Heap& heap = context.state.heap;
  const auto released = release_all_free(context);
  if (!released) {
    CAIRN_PROBE("ladder.not_released");
    return over(Failure{released.error()});
  }
  return search_if(heap.deviations().searches_after_release, heap);
}

RetryLadder::Next RetryLadder::ask_at_last(const DeviceContext& context) {
  context.state.heap.ledger().retried();
  may_ask_ = true;
  return ask(context);
}

RetryLadder::Next RetryLadder::fail(const DeviceContext& context) {
  CAIRN_PROBE("ladder.out_of_memory");
  return over(Failure{out_of_memory(context.state, request_, context.driver, complaints_)});
}

}  // namespace cairn
