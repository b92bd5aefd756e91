#include "scopes.h"

#include <algorithm>
#include <array>

namespace cairn::exhaust {
namespace {

using namespace literals;

const std::vector<Scope>& scopes() {
  static const std::vector<Scope> all = {
      {.name = "split-merge",
       .about = "sizes around each threshold, one stream, whole release",
       .world = "gpu 0 memory=64MiB\nstream s1\n",
       .streams = 1,
       .sizes = {1_B, 513_B, 1_MiB, Bytes{(1 << 20) + 1}, 9_MiB, 10_MiB},
       .most_blocks = 3,
       .empties = true},
      {.name = "tiny",
       .about = "one block that two streams use, with failing driver calls",
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
       .faults = {{DriverCall::event_record, CudaStatus::unknown},
                  {DriverCall::event_query, CudaStatus::unknown},
                  {DriverCall::malloc, CudaStatus::out_of_memory}}},
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
