// What the model does when no free block serves a request: the rungs down to out of memory, and the
// way of segments back to the driver.
#include <algorithm>
#include <cstdint>

#include "invariants/model/device_model.h"
#include "invariants/model/sizes.h"

namespace cairn::model {
namespace {

constexpr int success = 0;  // Codes of the CUDA driver.
constexpr int out_of_memory = 2;

}  // namespace

// On success the new segment is the last one. The free blocks are not searched again between the
// rungs: releasing whole segments makes none.
ErrorCode DeviceModel::new_segment(const Wanted& wanted) {
  int code = ask_driver(wanted);
  if (code == out_of_memory && options_.max_split_size_bytes != Options::unlimited) {
    const Release released = release_oversize(wanted);
    if (released == Release::driver_failed) return ErrorCode::cuda_error;
    if (released == Release::enough) code = ask_driver(wanted);
  }
  if (code == out_of_memory) {
    if (!release_all()) return ErrorCode::cuda_error;
    ledger_.retried();
    code = ask_driver(wanted);
  }
  if (code == success) return ErrorCode::none;
  if (code != out_of_memory) return ErrorCode::cuda_error;
  environment_.mem_info(device_);  // For the message; its failure changes nothing.
  ledger_.ran_out_of_memory();
  return ErrorCode::out_of_memory;
}

int DeviceModel::ask_driver(const Wanted& wanted) {
  const Bytes size = segment_size(wanted.size, options_);
  const Environment::Allocated given = environment_.malloc(device_, size);
  if (given.cuda_code != success) return given.cuda_code;
  const Span span{given.address, size};
  memory_.segments.push_back(
      {span, wanted.pool, wanted.request.stream, {{span.begin, size, false, {}}}});
  ledger_.segment_came(wanted.pool, size);
  ledger_.driver_gave();
  return success;
}

// One segment large enough by itself, the best fit; else from the largest down those of
// max_split_size and above, until together they are enough.
DeviceModel::Release DeviceModel::release_oversize(const Wanted& wanted) {
  const Bytes needed{std::max(wanted.size.count, options_.max_split_size_bytes)};
  std::vector<Span> candidates;
  for (const Place place : memory_.free_segments(wanted.pool, options_.best_fit_tie)) {
    const Segment& segment = memory_.segment(place);
    if (segment.stream == wanted.request.stream) candidates.push_back(segment.span);
  }
  for (const Span& candidate : candidates) {
    if (candidate.size < needed) continue;
    return release(candidate.begin) ? Release::enough : Release::driver_failed;
  }
  std::reverse(candidates.begin(), candidates.end());
  Bytes released;
  for (const Span& candidate : candidates) {
    if (released >= needed || candidate.size.count < options_.max_split_size_bytes) break;
    if (!release(candidate.begin)) return Release::driver_failed;
    released += candidate.size;
  }
  return released >= needed ? Release::enough : Release::not_enough;
}

// All free segments, the large pool's first. False if the driver failed; the release ends there.
bool DeviceModel::release_all() {
  // The wait for all events counts, even where none is pending.
  ledger_.synchronized();
  for (const PoolKind pool : {PoolKind::large, PoolKind::small}) {
    std::vector<Address> leaving;
    for (const Place place : memory_.free_segments(pool, options_.best_fit_tie)) {
      leaving.push_back(memory_.segment(place).span.begin);
    }
    for (const Address segment : leaving) {
      if (!release(segment)) return false;
    }
  }
  return true;
}

bool DeviceModel::release(Address address) {
  if (environment_.free(device_, address) != success) return false;  // It stays cached.
  const auto segment =
      std::find_if(memory_.segments.begin(), memory_.segments.end(),
                   [&](const Segment& each) { return each.span.begin == address; });
  ledger_.segment_went(segment->pool, segment->span.size);
  ledger_.driver_took();
  memory_.segments.erase(segment);
  return true;
}

ErrorCode DeviceModel::empty_cache() {
  return release_all() ? ErrorCode::none : ErrorCode::cuda_error;
}

}  // namespace cairn::model
