// The measures of a peer, each taken in child processes, so that every one begins from empty. What
// a program of a peer is told, and what it prints: measure.cc.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "bench/null_device/null_device.h"
#include "bench/peers/workload.h"

namespace cairn::bench::peers {

class OutOfMemory : public std::runtime_error {
 public:
  OutOfMemory() : runtime_error("out of memory") {}
};

// What the device sees of a peer: on the null device its calls, on any other the most memory that
// it holds.
class Watcher {
 public:
  Watcher();
  void begin();
  void look();
  void end();

  std::uint64_t most_held() const { return free_before_ - least_free_; }
  // Zeros where the device is not the null one.
  const NullCalls& calls() const { return calls_; }

 private:
  const NullCalls* counted_;  // Null: another device.
  NullCalls calls_{};
  std::uint64_t free_before_ = 0;
  std::uint64_t least_free_ = 0;
};

// A workload, carried out by a peer that begins from empty each time. All throw where the peer has
// no memory, or fails otherwise.
class PlayerOfAPeer {
 public:
  virtual ~PlayerOfAPeer() = default;
  // The processor time of a step that is timed, in nanoseconds.
  virtual double time_once() = 0;
  virtual void watch(Watcher& watcher) = 0;
  virtual void run_once() = 0;
};
using MakePlayer = std::function<std::unique_ptr<PlayerOfAPeer>(const Workload&)>;

// Takes the runtime into use, and makes a stream for each number; 0 is the default stream.
std::vector<cudaStream_t> streams_of(const Workload& workload);
double processor_ns();

// The main program of the peer of that name.
int run(int argc, char** argv, const char* peer, const MakePlayer& make_player);

}  // namespace cairn::bench::peers
