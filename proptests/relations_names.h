// How logs name streams and addresses.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/ids.h"
#include "base/units.h"
#include "driver/driver.h"
#include "simulator/simulated_gpu.h"
#include "testing/program.h"

namespace cairn::proptests {

// The streams of a Program by their handles and ids. It makes the same streams on a simulated GPU
// of its own, which then have the same.
class StreamNames {
 public:
  explicit StreamNames(const testing::Program& program);

  // The statement was carried out.
  void follow(const testing::Statement& statement, bool succeeded);

  std::string of_handle(std::uint64_t handle) const;
  std::string of_id(std::uint64_t id) const;

 private:
  void make(const testing::MakeStream& made);
  std::string known(std::uint64_t number) const;

  simulator::SimulatedGpu gpu_;
  std::map<std::string, StreamRef> streams_;
  std::map<std::uint64_t, std::string> names_;  // By handle, and by id.
  std::uint64_t threads_;                       // Their numbers are given up to this one.
  std::map<std::uint64_t, int> thread_of_;      // By number.
  std::map<int, std::uint64_t> number_of_;
};

// The segments that are there, numbered in the order in which they came.
class SegmentNames {
 public:
  void add(Span segment);
  void remove(Address begin) { segments_.erase(begin); }
  // "segment 3+0x200".
  std::string of(Address address) const;
  int number_at(Address begin) const { return segments_.at(begin).number; }

 private:
  struct Segment {
    int number = 0;
    Span span;
  };
  std::map<Address, Segment> segments_;
  int count_ = 0;
};

}  // namespace cairn::proptests
