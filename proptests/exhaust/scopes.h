// The scopes that are explored to their end, or to a depth: each a small world, and what may happen
// in it. A scope is a row in scopes.cc.
//
// Thread safety: constant data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "driver/cuda_status.h"
#include "driver/driver_call.h"
#include "proptests/protocol/abstraction.h"

namespace cairn::exhaust {

// A driver call of an operation may fail so; each one that the operation makes, in turn.
struct FaultChoice {
  DriverCall call = DriverCall::malloc;
  CudaStatus error = CudaStatus::unknown;
  bool sticky = false;
};

struct Scope {
  std::string_view name;
  std::string_view about;
  // The first lines of each Program: devices, settings, streams by the names s1, s2, ...
  std::string_view world;
  int streams = 1;
  std::vector<Bytes> sizes;  // Of requests.
  int most_blocks = 2;       // That are live, or wait for events.
  // Kernels on a block's stream and on those that use it, at most one unfinished for each block and
  // stream; when each ends is a choice.
  bool works = false;
  bool works_on_own_stream = false;  // Also on the block's own stream.
  bool uses = false;                 // record_stream, for each stream that is not the block's own.
  bool frees_on = false;
  bool polls = false;
  bool empties = false;                     // empty_cache
  std::vector<std::string_view> changes{};  // Statements that are carried out as they are.
  std::vector<FaultChoice> faults{};
  // States that differ in the names of streams alone count as one. Not where the order in which
  // streams are served shows: which of several calls fails.
  bool renames_streams = false;
  // Where the model of the life of a block has all that can happen in it: how large its states are.
  std::optional<protocol::Bounds> modelled{};
};

std::span<const Scope> all_scopes();
const Scope* find_scope(std::string_view name);  // Null: there is none.

}  // namespace cairn::exhaust
