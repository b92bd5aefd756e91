#include "scopes.h"

#include <algorithm>
#include <array>

namespace cairn::exhaust {
namespace {

using namespace literals;

// Those that an operation meets after something has begun: none that loses the device.
std::vector<FaultChoice> some_faults() {
  return {{DriverCall::malloc, CudaStatus::out_of_memory},
          {DriverCall::free, CudaStatus::unknown},
          {DriverCall::event_create, CudaStatus::out_of_memory},
          {DriverCall::event_record, CudaStatus::unknown},
          {DriverCall::event_query, CudaStatus::unknown},
          {DriverCall::event_sync, CudaStatus::unknown},
          {DriverCall::stream_ctx, CudaStatus::unknown},
          {DriverCall::stream_sync, CudaStatus::unknown}};
}

const std::vector<Scope>& scopes() {
  static const std::vector<Scope> all = {
      {.name = "split-merge",
       .about = "sizes around each threshold on one stream, 3 blocks",
       .world = "gpu 0 memory=64MiB\nstream s1\n",
       .streams = 1,
       .sizes = {1_B, 513_B, 1_MiB, Bytes{(1 << 20) + 1}, 9_MiB, 10_MiB},
       .most_blocks = 3,
       .empties = true},
      {.name = "split-merge-4",
       .about = "one small segment, 4 blocks",
       .world = "gpu 0 memory=4MiB\nstream s1\n",
       .streams = 1,
       .sizes = {1_B, 513_B, 511_KiB, 1_MiB},
       .most_blocks = 4,
       .empties = true},
      {.name = "tiny",
       .about = "one block that another stream uses, with failing driver calls",
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
       .faults = some_faults()},
      {.name = "streams-1x3",
       .about = "one block that two other streams use, with failing driver calls",
       .world = "gpu 0 memory=2MiB\nstream s1\nstream s2\nstream s3\n",
       .streams = 3,
       .sizes = {1_MiB},
       .most_blocks = 1,
       .works = true,
       .uses = true,
       .frees_on = true,
       .polls = true,
       .faults = some_faults()},
      {.name = "streams-2x2",
       .about = "two blocks side by side, two streams, work and failing driver calls",
       .world = "gpu 0 memory=2MiB\nstream s1\nstream s2\n",
       .streams = 2,
       .sizes = {1_MiB},
       .most_blocks = 2,
       .works = true,
       .uses = true,
       .polls = true,
       .faults = some_faults()},
      {.name = "streams-2x3",
       .about = "two blocks side by side, three streams, work and failing driver calls",
       .world = "gpu 0 memory=2MiB\nstream s1\nstream s2\nstream s3\n",
       .streams = 3,
       .sizes = {1_MiB},
       .most_blocks = 2,
       .works = true,
       .uses = true,
       .polls = true,
       .faults = some_faults()},
      {.name = "streams-2x3-renamed",
       .about = "two blocks, three streams, work on each; no failing calls",
       .world = "gpu 0 memory=2MiB\nstream s1\nstream s2\nstream s3\n",
       .streams = 3,
       .sizes = {1_MiB},
       .most_blocks = 2,
       .works = true,
       .works_on_own_stream = true,
       .uses = true,
       .polls = true,
       .renames_streams = true},
  };
  return all;
}

}  // namespace

std::span<const Scope> all_scopes() { return scopes(); }

const Scope* find_scope(std::string_view name) {
  const auto found = std::ranges::find(scopes(), name, &Scope::name);
  return found == scopes().end() ? nullptr : &*found;
}

}  // namespace cairn::exhaust
