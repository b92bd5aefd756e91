// A request: the rungs from the cache down to out of memory.
#include <cmath>
#include <cstdint>
#include <utility>

#include "invariants/model/device_model.h"
#include "invariants/model/sizes.h"

namespace cairn::model {
namespace {

// How many bytes a part of the memory is, not rounded yet.
double part_of(Bytes total, double fraction) { return fraction * static_cast<double>(total.count); }

}  // namespace

void DeviceModel::set_memory_fraction(double fraction) {
  limit_.reset();
  if (fraction == 1.0) return;
  limit_ = Bytes{static_cast<std::uint64_t>(std::round(part_of(total_memory_, fraction)))};
}

DeviceModel::Wanted DeviceModel::wanted_of(const Request& request, StreamId stream) const {
  const Bytes size = rounded_size(request.size, options_);
  return {stream, request.size, request.alignment, size, pool_of(size)};
}

Outcome DeviceModel::allocate(const Request& request, StreamId stream) {
  Wanted wanted = wanted_of(request, stream);

  look_at_events();  // One that cannot be queried is as one that is not done.
  if (is_lost_) return failed(ErrorCode::cuda_error);
  if (collects_garbage()) ++searches(wanted.pool);
  if (const auto place = best_fit(wanted)) return hand_out(*place, wanted);

  environment_.call_back();
  if (is_lost_) return failed(ErrorCode::cuda_error);
  wanted = wanted_of(request, stream);
  if (collects_garbage() && !collect_garbage()) return failed(ErrorCode::cuda_error);
  return from_asking_on(wanted);
}

Outcome DeviceModel::from_asking_on(Wanted& wanted) {
  Asked asked = ask(wanted);
  if (asked == Asked::no_memory && options_.max_split_size_bytes != Options::unlimited) {
    const Release released = release_oversize(wanted);
    if (released == Release::driver_failed) return failed(ErrorCode::cuda_error);
    if (released == Release::enough) asked = ask(wanted);
  }
  return asked == Asked::no_memory ? last_rungs(wanted) : conclude(asked, wanted);
}

Outcome DeviceModel::last_rungs(Wanted& wanted) {
  if (!wait_for_all_events()) return failed(ErrorCode::cuda_error);
  if (policy_.searches_after_waiting()) {
    if (const auto place = best_fit(wanted)) return hand_out(*place, wanted);
  }
  if (!release_all()) return failed(ErrorCode::cuda_error);
  if (policy_.searches_after_release()) {
    if (const auto place = best_fit(wanted)) return hand_out(*place, wanted);
  }
  ledger_.retried();
  const Asked asked = ask(wanted);
  return conclude(asked, wanted);
}

DeviceModel::Asked DeviceModel::ask(Wanted& wanted) {
  const Bytes size = segment_size(wanted.size, options_);
  const auto reserved = static_cast<std::uint64_t>(stats().reserved_bytes.all.current);
  const Bytes would_be = Bytes{reserved} + asked_ + size;
  if (limit_ && would_be > *limit_) return Asked::no_memory;
  if (options_.throw_on_cudamalloc_oom) {
    const double border = part_of(total_memory_, options_.per_process_memory_fraction);
    if (would_be.count > static_cast<std::uint64_t>(border)) {
      ledger_.rejected();
      return Asked::rejected;
    }
  }

  const Environment::Allocated given = malloc(size);
  const bool was_lost = is_lost_;  // By another operation, while the driver was asked.
  noted(given.cuda_code);
  if (was_lost) return Asked::failed;
  wanted = wanted_of({device_, 0, wanted.requested, wanted.alignment}, wanted.stream);
  if (given.cuda_code == out_of_memory) return Asked::no_memory;
  const Span span{given.address, size};
  if (given.cuda_code != success || !is_possible(span)) return Asked::failed;
  Block whole{.ptr = span.begin, .size = size, .free_since = searches(wanted.pool)};
  memory_.segments.push_back({span, wanted.pool, wanted.stream, {std::move(whole)}});
  ledger_.segment_came(wanted.pool, size);
  ledger_.driver_gave();
  return Asked::given;
}

// Where the lock is dropped around the call, other operations come in between, and what is asked
// for counts until the answer is there.
Environment::Allocated DeviceModel::malloc(Bytes size) {
  if (!options_.release_lock_on_cudamalloc) return environment_.malloc(device_, size);
  asked_ += size;
  const Environment::Allocated given = environment_.malloc(device_, size);
  asked_ -= size;
  return given;
}

bool DeviceModel::is_possible(Span segment) const {
  if (segment.begin == Address{0} || segment.begin.value % 512 != 0) return false;
  for (const Segment& other : memory_.segments) {
    if (other.span.overlaps(segment)) return false;
  }
  return true;
}

// How a request ends that no further rung is for.
Outcome DeviceModel::conclude(Asked asked, Wanted& wanted) {
  if (asked == Asked::failed) return failed(ErrorCode::cuda_error);
  if (asked == Asked::rejected) {
    MemoryReport memory = report_of(wanted);
    memory.total_bytes = total_memory_.count;
    return {ErrorCode::rejected, {}, std::move(memory)};
  }
  if (asked == Asked::no_memory) {
    const Environment::Memory info = environment_.mem_info(device_);
    if (noted(info.cuda_code); is_lost_) return failed(ErrorCode::cuda_error);
    ledger_.ran_out_of_memory();
    MemoryReport memory = report_of(wanted);
    if (info.cuda_code == success) {
      memory.total_bytes = info.total.count;
      memory.free_bytes = info.free.count;
    }
    return {ErrorCode::out_of_memory, {}, std::move(memory)};
  }
  const Place fresh{memory_.segments.size() - 1, 0};  // The segment that was given.
  if (!memory_.block(fresh).holds(wanted.size, wanted.alignment)) {
    // The segment stays, as free memory. By the settings of now the request may need a larger one.
    const bool needs_more = segment_size(wanted.size, options_) > memory_.block(fresh).size;
    return needs_more ? from_asking_on(wanted) : failed(ErrorCode::unsupported);
  }
  return hand_out(fresh, wanted);
}

MemoryReport DeviceModel::report_of(const Wanted& wanted) const {
  const auto allocated = static_cast<std::uint64_t>(stats().allocated_bytes.all.current);
  const auto reserved = static_cast<std::uint64_t>(stats().reserved_bytes.all.current);
  MemoryReport report;
  report.device = device_;
  report.requested_bytes = wanted.requested.count;
  report.tried_bytes = segment_size(wanted.size, options_).count;
  if (limit_) report.limit_bytes = limit_->count;
  report.allocated_bytes = allocated;
  report.unallocated_bytes = reserved - allocated;
  report.pending_bytes = memory_.pending_bytes().count;
  return report;
}

}  // namespace cairn::model
