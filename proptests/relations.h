// Relations between runs. A run of a Program is written down as a Log, in words that are the same
// for what must be the same in related runs: a stream goes by the name that the Program gives it, a
// thread's default stream by that of its thread, and an address by its segment (they are counted in
// the order in which the driver gave them) and the distance from its start. So two runs are related
// as they should be if their logs are equal.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/errors.h"
#include "cairn/stats.h"
#include "testing/dice.h"
#include "testing/difference.h"
#include "testing/op.h"
#include "testing/program.h"
#include "testing/world.h"

namespace cairn::proptests {

// Memory that came from the driver.
struct Arrival {
  DeviceIndex device = 0;
  Span span;
};

// One statement that was carried out.
struct Step {
  int line = 0;                          // Of the statement; 0 where it has none.
  std::string statement;                 // Without its thread.
  ErrorCode expected = ErrorCode::none;  // What the statement says of itself.
  ErrorCode error = ErrorCode::none;
  std::string outcome;  // The error with its quantities, or the address.
  std::vector<std::string> calls;
  std::vector<DeviceStats> stats;     // By device.
  std::optional<Arrival> arrival;     // At an allocation.
  std::vector<Address> departures;    // Segments that went back to the driver.
  std::vector<bool> nothing_pending;  // By device: no event is waited for.
};

struct Log {
  std::vector<Step> steps;  // Without declarations.
  // A line for each segment at the end, in the order of their coming.
  std::vector<std::string> map;
  std::optional<testing::Difference> fault;  // What World found.
};

enum class Detail {
  all,
  // Events and streams are looked at in the order of their numbers. What depends on that order is
  // left out: which event serves for what, the order of the calls of one operation, and of the
  // statistics of split blocks, which go up and down while blocks merge one by one, all but what
  // is current.
  no_order
};

struct LogOptions {
  Detail detail = Detail::all;
  bool checks = false;  // Model, checkers, and the whole map after each step.
};

// Runs it as testing::play() does. REQUIRES: the program comes of prepare().
Log write_down(const testing::Program& program, const LogOptions& options = {});

// The first difference.
std::optional<testing::Difference> compare(const Log& expected, const Log& found);

// It says what the machine is like, or what is there at the start.
bool is_declaration(const testing::Statement& statement);

// What a relation is tried on: a Program that ran and holds as it is written, its lines numbered;
// and luck.
struct Sample {
  testing::Program program;
  testing::Dice dice{0};
};
// Each thread but the main one says `sync ptds` before the first operation, so that their numbers,
// and so their default streams, are in that order.
testing::Program prepare(const testing::Program& program);

using Relation = std::function<std::optional<testing::Difference>(Sample& sample)>;
enum class Faults {
  all,
  none,
  // Those that strike requests for memory, whose order is the Program's own.
  of_memory
};

// For the body of a property: draws a tape and tries the relation on its Program. One that does not
// hold fails the property, with the seed and the Program, after operations were taken out of the
// tape for as long as it did not hold.
void check_relation(Faults faults, const Relation& relation);

}  // namespace cairn::proptests
