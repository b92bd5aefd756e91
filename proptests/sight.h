// What properties see of a World while it runs, and how they say what does not hold. A Promise
// states one promise of the allocator from public data alone: the map of memory, the statistics,
// the driver calls and answers, what the driver has left, and what the Program itself said. It
// knows neither the heap nor the reference model, so it is a judge of its own.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/options.h"
#include "testing/program_state.h"
#include "testing/world.h"

namespace cairn::testing {

struct DeviceSight {
  BlockMap map;
  DeviceStats stats;
  std::vector<Span> out;  // What the driver has given out.
  Bytes free;             // What the driver has left.
};
using Sights = std::vector<DeviceSight>;  // By device.

struct LiveBlock {
  DeviceIndex device = 0;
  Address address;
  Bytes requested;
};

// What follows from the statements and their outcomes: which blocks the Program holds, which
// settings and limits there are, and, learnt from the map, under which number a stream's memory
// stands.
class Book {
 public:
  // `deed` is null where the allocator was not reached.
  void apply(const Statement& statement, bool succeeded, const Deed* deed, const Sights& now);

  // By name; blocks of no bytes are none.
  const std::map<std::string, LiveBlock>& live() const { return live_; }
  // The live block that the statement frees if it succeeds; null: none.
  const LiveBlock* freed_by(const Statement& statement) const;
  const Options& settings() const { return settings_; }
  DeviceIndex device(const Statement& statement) const;  // The current one of its thread.
  Bytes memory(DeviceIndex device) const;
  std::optional<Bytes> limit(DeviceIndex device) const;
  // None where no memory was handed out under that name yet, or where the name is a dead stream's.
  std::optional<std::uint64_t> stream(const Statement& statement) const;
  // The Program has planned that the driver refuses memory that it has.
  bool plans_refusals() const { return plans_refusals_; }

 private:
  void declare(const Statement& statement);
  void allocated(const Statement& statement, const Alloc& alloc, Address address,
                 const Sights& now);
  StreamPlace place(const Statement& statement, const Alloc& alloc) const;

  std::map<std::string, LiveBlock> live_;
  Options settings_;
  double first_fraction_ = 1.0;
  std::map<DeviceIndex, double> fractions_;
  std::map<DeviceIndex, Bytes> memory_;
  std::map<int, DeviceIndex> current_devices_;  // By thread.
  std::map<StreamPlace, std::uint64_t> streams_;
  std::map<std::string, bool> dead_streams_;
  std::pair<DeviceIndex, Address> next_declared_{};  // Block of the segment that was declared last.
  bool plans_refusals_ = false;
};

// One statement that was carried out, and what is before and after it.
struct Sight {
  const Statement& statement;
  bool succeeded;
  const Deed* deed;  // Null where the allocator was not reached.
  const Book& book;  // Before the statement.
  const Sights& before;
  const Sights& now;

  template <class Operation>
  const Operation* as() const {
    return std::get_if<Operation>(&statement.operation);
  }
  DeviceIndex device() const { return book.device(statement); }
  const DeviceSight& device_before() const { return before[static_cast<std::size_t>(device())]; }
  const DeviceSight& device_now() const { return now[static_cast<std::size_t>(device())]; }
  ErrorCode error() const { return deed == nullptr ? ErrorCode::none : deed->error.code; }
  std::uint64_t calls(DriverCall call, bool succeeded_ones) const;
  bool any_call_failed() const;
};

// How often what a promise speaks of came about, by words; over one run or many.
class Tally {
 public:
  void count(const char* what, std::uint64_t times = 1) { counts_[what] += times; }
  std::uint64_t of(const std::string& what) const;
  std::string in_words() const;

 private:
  std::map<std::string, std::uint64_t> counts_;
};

class Promise {
 public:
  explicit Promise(Tally& tally) : tally_(tally) {}
  virtual ~Promise() = default;
  Promise(const Promise&) = delete;
  Promise& operator=(const Promise&) = delete;

  // What does not hold after the statement.
  virtual std::optional<Difference> after(const Sight& sight) = 0;
  // What does not hold when all was freed, waited for and given back.
  virtual std::optional<Difference> at_the_end(const Book&, const Sights&) { return std::nullopt; }

 protected:
  void count(const char* what, std::uint64_t times = 1) { tally_.count(what, times); }

 private:
  Tally& tally_;
};

struct NamedPromise {
  const char* name;
  std::unique_ptr<Promise> (*make)(Tally& tally);
};

// Changes what promises see, for those who plant a fault to see that it is found.
using Doctor = std::function<void(Sights& now, Deed& deed)>;

// For WorldOptions::make_observer: all of these look on, and a finding begins with the name of the
// promise. The tally must outlive the World.
std::function<std::unique_ptr<Observer>()> watch(std::vector<NamedPromise> promises, Tally& tally,
                                                 Doctor doctor = nullptr);

}  // namespace cairn::testing
