// An operation of the allocator while others run within it or beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testing/world_impl.h"

namespace cairn::testing {

struct World::Impl::Operation {
  // A critical section of the device's state that it was in.
  struct Section {
    std::uint64_t left = 0;  // When it left it: a ticket.
    bool is_whole = false;   // It had the whole state, not a lane of it.
    std::size_t calls = 0;   // How many calls it had made by then.
  };

  Lockstep::Same same;
  Deed deed;
  std::string words;
  // In what what it read differs from what the model has.
  std::function<std::optional<Difference>(const model::Model&)> compare_read;
  std::vector<Section> sections;
  std::uint64_t returned = 0;  // A ticket too.
  std::unique_ptr<Lockstep::InPhases> phases;
  std::vector<RecordedCall> calls_of_phase;

  // The operation that the calling thread is in; null: none, or nobody needs to know.
  static Operation*& of_this_thread();
};

// The lines of a `parallel` while they run.
struct World::Impl::Together {
  // What a line gave up and may have to take again.
  struct GivenUp {
    std::string name;
    Range range;
    bool is_kept = false;
  };

  std::vector<int> schedule;  // That it is to keep to.
  std::uint64_t next_ticket = 1;
  std::vector<std::unique_ptr<Operation>> history;
  std::vector<GivenUp> given_up;
  std::map<const Statement*, StepResult> results;
  std::optional<Difference> broken_invariant;
  std::vector<int> lowest;  // That could run, at each point.
  std::optional<std::string> mistake;
};

}  // namespace cairn::testing
