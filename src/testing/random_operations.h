// A source of random operations for World: declarations first, then one operation after another,
// each made in the knowledge of what became of those before. Sizes lie around the borders of size
// classes, and weights are drawn anew for each seed (swarm testing: Groce et al., 2012), so that
// long runs of one kind happen. The same seed and outcomes give the same operations.
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "testing/program.h"

namespace cairn::testing {

class RandomOperations {
 public:
  explicit RandomOperations(std::uint64_t seed);

  // Devices, settings and segments that are there at the start.
  std::vector<Statement> declarations();

  Statement next();
  // What became of the statement that next() gave last: whether it did what it says.
  void done(const Statement& statement, bool succeeded);

 private:
  enum Kind { alloc, free_block, bad_free, empty_cache, fault, switch_device, reset, kind_count };
  struct Live {
    std::string name;
    Bytes size;
    std::string stream;
  };

  std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  DeviceIndex draw_device() {
    return static_cast<DeviceIndex>(below(static_cast<std::uint64_t>(devices_)));
  }
  Kind draw_kind();
  Bytes draw_size();
  std::string draw_settings();
  Operation make(Kind kind);
  Operation make_alloc();
  Operation make_free();
  Operation make_bad_free();
  Operation make_fault();
  void declare_segment(std::vector<Statement>& statements, DeviceIndex device);

  std::mt19937_64 engine_;
  int devices_;
  std::uint64_t streams_;
  std::uint64_t largest_exponent_;
  bool is_oversize_world_;  // Little memory, and requests around max_split_size.
  std::array<std::uint64_t, kind_count> weights_{};
  std::vector<Live> live_;
  std::vector<std::string> freed_;
  std::uint64_t names_ = 0;
};

}  // namespace cairn::testing
