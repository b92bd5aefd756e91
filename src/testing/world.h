// Runs Programs: the production allocator on a simulated GPU, with faults injected and every driver
// call recorded; beside it the reference model, fed with the same answers of the driver; after each
// step the checkers of the invariants and the simulated GPU's judge. What a statement means is in
// README.md beside this file.
//
// Not thread-safe: a World belongs to the thread that uses it, which is the Program's main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/block_map.h"
#include "cairn/errors.h"
#include "cairn/stats.h"
#include "driver/driver.h"
#include "testing/deed.h"
#include "testing/difference.h"
#include "testing/program.h"
#include "testing/scheduler.h"

namespace cairn {
class AllDevices;
}

namespace cairn::testing {

class Machine;
class Observer;

struct WorldOptions {
  bool lockstep = true;  // The reference model foretells each operation.
  // After each step all invariants of all devices are checked, and that live blocks are unchanged.
  bool checkers = true;
  // The whole map of memory is compared with the model's after so many steps, and at the end.
  std::uint64_t steps_between_maps = 64;

  // For those who plant a fault to see that it is found; null: none. A driver between the allocator
  // and what is recorded of it; and what happens after each operation, before the checks.
  std::function<std::unique_ptr<Driver>(Driver& recorded)> wrap_driver;
  std::function<void(AllDevices& allocator)> meddle;

  // The bodies of `during` and `parallel` are played (testing/play.h): an operation in them that
  // fails as it had to is as good as one that does not, and what makes no sense is left out.
  bool plays_bodies = false;
  // Of tapes (testing/op_run.h): other threads act while an allocation waits for the driver without
  // the lock. A `during` is over with the statement after it, made or not.
  bool lets_others_in = false;
  // Who is next in a `parallel` that has no `schedule`; null: the lowest that can run.
  std::function<int(const Scheduler::Point&)> choose;
  // Free-memory callbacks and an observer of failures are registered, which do nothing; for
  // Programs without `during`.
  bool has_callbacks = false;

  // Makes what looks on while a World runs (a property, say); null: nobody does.
  std::function<std::unique_ptr<Observer>()> make_observer;
};

// What became of one statement.
struct StepResult {
  enum class Kind {
    ok,          // All holds; an operation that was expected to fail so did so, with `error`.
    failed,      // The operation failed unexpectedly, with `error`, but as it had to.
    finding,     // Something does not hold: `expected`, `found`. The World is of no more use.
    mistake,     // The statement makes no sense here: `why`. It was not carried out.
    unsupported  // This version cannot do it: `why`. It was not carried out.
  };
  Kind kind = Kind::ok;
  ErrorCode error = ErrorCode::none;
  std::string expected;  // Of `failed` too.
  std::string found;
  std::string why;
  int line = 0;  // Of the statement that is to blame.
  int column = 0;
};

// A body that ran in a step, as it went: what failed is expected to.
struct RanBody {
  std::size_t which = 0;  // Of the `during` statements so far, from 0.
  bool is_parallel = false;
  bool made_no_sense = false;  // The call of the `during` was made under a lock.
  std::vector<Statement> body;
  std::vector<int> schedule;  // Of a `parallel`, up to where the lowest is always next.
};

class World {
 public:
  // The devices and the settings are those that the program's `gpu` and `conf` lines declare; none
  // of its statements is carried out. Bad settings are the mistake of the `conf` line's own step,
  // as are settings that this version cannot do.
  explicit World(const Program& program, const WorldOptions& options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  StepResult step(const Statement& statement);
  // No fault of the Program strikes any more.
  void clear_faults();
  // After the last step: what must hold at the end.
  StepResult finish();

  // For those who look for leaks, after finish(): no fault strikes any more, all work is waited
  // for, every live name is freed, and the cache emptied. Then nothing is live, pending or
  // reserved; of a device that was lost only what src/allocator/README.md promises.
  StepResult wind_down();
  // After wind_down(): the allocator is destroyed, and nothing is left of it on the simulated GPU,
  // but for what stands on lost devices. REQUIRES: of this World nothing but notes() is asked
  // after.
  StepResult end();

  // Those of the last step. Only of use where the bodies are played.
  std::vector<RanBody> take_bodies();

  // What deserves a word and is no failure: faults that never came, warnings of the settings.
  std::vector<std::string> notes() const;
  // By device, of the production allocator.
  std::vector<DeviceStats> stats() const;
  // How many statements had the allocator do something.
  std::uint64_t operations() const;

  // ---- for observers ----
  DeviceIndex device_count() const;
  // What the allocator did at the last statement; nothing where it was not reached.
  const Deed& deed() const;
  BlockMap map(DeviceIndex device) const;  // Of the production allocator.
  // The memory that the allocator has from the driver and did not give back, in order of address.
  std::vector<Span> spans_out(DeviceIndex device) const;
  // What the simulated GPU has left, in bytes; what the allocator holds is not.
  Bytes free_memory(DeviceIndex device) const;
  // Allocator, simulated GPU and faults, to be looked at.
  const Machine& machine() const;
  // Which stream of its device a name is to the allocator; none: the name is not known.
  std::optional<StreamId> stream(const std::string& name) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
  std::unique_ptr<Observer> observer_;
};

// Looks on while a World runs, and says what does not hold.
class Observer {
 public:
  virtual ~Observer() = default;
  // Before a statement, which may turn out to be a mistake or end the process.
  virtual void before(const Statement&) {}
  // After a statement that was carried out, and after World's own checks: it is ok, or failed as it
  // had to. What does not hold is a finding.
  virtual std::optional<Difference> after(const Statement& statement, const StepResult& result,
                                          const World& world) = 0;
  // After wind_down(), if World itself found that nothing is left.
  virtual std::optional<Difference> after_wind_down(const World&) { return std::nullopt; }
};

// As exit codes of `cairn run`.
enum class Verdict { holds = 0, violated = 1, mistaken = 2, unsupported = 3 };

struct RunReport {
  Verdict verdict = Verdict::holds;
  int line = 0;  // Where it did not hold; 0 for the end of the program.
  int column = 0;
  std::string statement;  // In text form; empty at the end of the program.
  std::string expected;   // violated
  std::string found;      // violated
  std::string why;        // mistaken, unsupported
  std::vector<std::string> notes;
  std::uint64_t steps = 0;       // Statements carried out.
  std::uint64_t operations = 0;  // Of the allocator, among these.
  std::vector<DeviceStats> stats;
};

struct RunOptions {
  WorldOptions world;
  std::function<void(std::uint64_t steps)> progress;  // After each step. Null: none.
};

// Runs a program up to its end, or to the first statement that does not go as it says.
RunReport run(const Program& program, const RunOptions& options = {});

}  // namespace cairn::testing
