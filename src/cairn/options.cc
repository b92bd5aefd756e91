#include "cairn/options.h"

#include <tuple>

namespace cairn {
namespace {

// Every member: a new one that is not named here does not compile.
auto members(const Reserve& reserve) {
  const auto& [kind, fraction, bytes] = reserve;
  return std::tie(kind, fraction, bytes);
}

auto members(const Options& options) {
  const auto& [max_split, non_split_rounding, large_segment, gc_threshold, divisions, expandable,
               backend, release_lock, memory_fraction, throw_on_oom, record_stream_reuse, reserve,
               reserve_by_class, pinned_register, pinned_threads, pinned_segment, pinned_catch_all,
               pinned_background, pinned_round_threshold, pinned_cached, best_fit_tie,
               stream_identity, pytorch_defects] = options;
  return std::tie(max_split, non_split_rounding, large_segment, gc_threshold, divisions, expandable,
                  backend, release_lock, memory_fraction, throw_on_oom, record_stream_reuse,
                  reserve, reserve_by_class, pinned_register, pinned_threads, pinned_segment,
                  pinned_catch_all, pinned_background, pinned_round_threshold, pinned_cached,
                  best_fit_tie, stream_identity, pytorch_defects);
}

}  // namespace

bool operator==(const Reserve& a, const Reserve& b) { return members(a) == members(b); }
bool operator==(const Options& a, const Options& b) { return members(a) == members(b); }

}  // namespace cairn
