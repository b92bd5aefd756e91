#include "scopes.h"

#include <algorithm>
#include <array>

namespace cairn::exhaust {
namespace {

using namespace literals;

// One failure of each call that an operation makes after it has begun; none loses the device.
std::vector<FaultChoice> failures() {
  return {{DriverCall::malloc, CudaStatus::out_of_memory},
          {DriverCall::free, CudaStatus::unknown},
          {DriverCall::event_create, CudaStatus::out_of_memory},
          {DriverCall::event_record, CudaStatus::unknown},
          {DriverCall::event_query, CudaStatus::unknown},
          {DriverCall::event_sync, CudaStatus::unknown},
          {DriverCall::stream_ctx, CudaStatus::unknown},
          {DriverCall::stream_sync, CudaStatus::unknown}};
}

// The same calls lose the device.
std::vector<FaultChoice> losses() {
  std::vector<FaultChoice> choices = failures();
  for (FaultChoice& choice : choices) choice = {choice.call, CudaStatus::illegal_address, true};
  choices.push_back({DriverCall::malloc, CudaStatus::out_of_memory, false});
  return choices;
}

std::vector<Scope> split_and_merge() {
  return {
      {.name = "split-merge",
       .about = "sizes around each threshold, one stream",
       .world = "gpu 0 memory=64MiB\nstream s1\n",
       .streams = 1,
       .sizes = {1_B, 1_MiB, Bytes{(1 << 20) + 1}, 10_MiB},
       .most_blocks = 3,
       .empties = true},
      {.name = "split-merge-4",
       .about = "small blocks side by side, one stream",
       .world = "gpu 0 memory=2MiB\nstream s1\n",
       .streams = 1,
       .sizes = {256_KiB, 512_KiB, 1_MiB},
       .most_blocks = 4,
       .modelled = {{1, 8, 256_KiB}}},
      {.name = "split-merge-2s",
       .about = "what one stream frees serves no other",
       .world = "gpu 0 memory=4MiB\nstream s1\nstream s2\n",
       .streams = 2,
       .sizes = {512_KiB, 1_MiB},
       .most_blocks = 3,
       .empties = true,
       .renames_streams = true,
       .modelled = {{2, 4, 512_KiB}}},
  };
}

std::vector<Scope> streams_and_events() {
  return {
      {.name = "tiny",
       .about = "one block that another stream uses, work on both, failing calls",
       .world = "gpu 0 memory=4MiB\nstream s1\nstream s2\n",
       .streams = 2,
       .sizes = {1_MiB},
       .most_blocks = 1,
       .works = true,
       .works_on_own_stream = true,
       .uses = true,
       .frees_on = true,
       .polls = true,
       .empties = true,
       .faults = failures(),
       .modelled = {{2, 2, 1_MiB}}},
      {.name = "streams-1x3",
       .about = "one block that two other streams use, failing calls",
       .world = "gpu 0 memory=2MiB\nstream s1\nstream s2\nstream s3\n",
       .streams = 3,
       .sizes = {1_MiB},
       .most_blocks = 1,
       .works = true,
       .uses = true,
       .frees_on = true,
       .polls = true,
       .faults = failures(),
       .modelled = {{1, 2, 1_MiB}}},
      {.name = "streams-2x2",
       .about = "two blocks, memory for both streams, work of the users, failing calls",
       .world = "gpu 0 memory=4MiB\nstream s1\nstream s2\n",
       .streams = 2,
       .sizes = {1_MiB},
       .most_blocks = 2,
       .works = true,
       .uses = true,
       .frees_on = true,
       .polls = true,
       .faults = failures(),
       .modelled = {{2, 2, 1_MiB}}},
      {.name = "streams-2x3",
       .about = "two blocks of one segment, three streams, work of the users, failing calls",
       .world = "gpu 0 memory=2MiB\nstream s1\nstream s2\nstream s3\n",
       .streams = 3,
       .sizes = {1_MiB},
       .most_blocks = 2,
       .works = true,
       .uses = true,
       .polls = true,
       .faults = failures(),
       .modelled = {{1, 2, 1_MiB}}},
      {.name = "streams-2x3-own",
       .about = "two blocks, three streams, work on all; memory for each stream",
       .world = "gpu 0 memory=6MiB\nstream s1\nstream s2\nstream s3\n",
       .streams = 3,
       .sizes = {1_MiB},
       .most_blocks = 2,
       .works = true,
       .works_on_own_stream = true,
       .uses = true,
       .polls = true,
       .renames_streams = true,
       .modelled = {{3, 2, 1_MiB}}},
  };
}

std::vector<Scope> short_memory() {
  return {
      {.name = "tight",
       .about = "memory for two small segments, two streams, a limit that comes and goes",
       .world = "gpu 0 memory=4MiB\nstream s1\nstream s2\n",
       .streams = 2,
       .sizes = {512_KiB, 1_MiB},
       .most_blocks = 2,
       .works = true,
       .uses = true,
       .empties = true,
       .changes = {"memory_fraction 0.5", "memory_fraction 1"},
       .modelled = {{2, 4, 512_KiB}}},
      {.name = "tight-3",
       .about = "memory for two small segments, three streams",
       .world = "gpu 0 memory=4MiB\nstream s1\nstream s2\nstream s3\n",
       .streams = 3,
       .sizes = {1_MiB},
       .most_blocks = 2,
       .works = true,
       .uses = true,
       .renames_streams = true,
       .modelled = {{2, 2, 1_MiB}}},
      {.name = "ladder",
       .about = "oversize blocks under a limit of splits, each rung, failing calls",
       .world = "gpu 0 memory=26MiB\n"
                "conf large_segment_size_mb:11,max_split_size_mb:11\nstream s1\nstream s2\n",
       .streams = 2,
       .sizes = {2_MiB, 12_MiB},
       .most_blocks = 2,
       .works = true,
       .uses = true,
       .faults = failures()},
      {.name = "ladder-3",
       .about = "the same with three streams and no failing calls",
       .world = "gpu 0 memory=26MiB\n"
                "conf large_segment_size_mb:11,max_split_size_mb:11\n"
                "stream s1\nstream s2\nstream s3\n",
       .streams = 3,
       .sizes = {2_MiB, 12_MiB},
       .most_blocks = 2,
       .works = true,
       .uses = true,
       .renames_streams = true},
      {.name = "gc",
       .about = "garbage collection above half of a limit; ages count as they are",
       .world = "gpu 0 memory=64MiB\n"
                "conf garbage_collection_threshold:0.5,per_process_memory_fraction:0.9\n"
                "stream s1\nstream s2\n",
       .streams = 2,
       .sizes = {10_MiB, 12_MiB},
       .most_blocks = 2},
      {.name = "lost",
       .about = "two blocks, two streams; each call may lose the device",
       .world = "gpu 0 memory=4MiB\nstream s1\nstream s2\n",
       .streams = 2,
       .sizes = {1_MiB},
       .most_blocks = 2,
       .works = true,
       .uses = true,
       .frees_on = true,
       .polls = true,
       .empties = true,
       .faults = losses(),
       .modelled = {{2, 2, 1_MiB}}},
  };
}

const std::vector<Scope>& scopes() {
  static const std::vector<Scope> all = [] {
    std::vector<Scope> found = split_and_merge();
    for (const auto& more : {streams_and_events(), short_memory()})
      found.insert(found.end(), more.begin(), more.end());
    return found;
  }();
  return all;
}

}  // namespace

std::span<const Scope> all_scopes() { return scopes(); }

const Scope* find_scope(std::string_view name) {
  const auto found = std::ranges::find(scopes(), name, &Scope::name);
  return found == scopes().end() ? nullptr : &*found;
}

}  // namespace cairn::exhaust
