// The streams of a Program, on the simulated GPU: what their names stand for, and which stream each
// is to the allocator. `s0` and `ptds` are streams of whatever device is meant; any other name is
// one stream of one device, made where it is first mentioned.
//
// Not thread-safe. `ptds` is that of the calling thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "cairn/options.h"
#include "driver/driver.h"
#include "invariants/model/policy.h"
#include "simulator/simulated_gpu.h"
#include "testing/program.h"

namespace cairn::testing {

struct NamedStream {
  StreamRef ref;
  bool is_dead = false;
  bool is_ending = false;  // A device was told of its end, and another could not be.
};

class Streams {
 public:
  Streams(simulator::SimulatedGpu& gpu, const Options& options)
      : gpu_(gpu), identity_(options.stream_identity), policy_(options) {}

  // The stream, made on that device if the name is new. A failure says why it cannot be.
  Result<StreamRef, std::string> mention(const std::string& name, DeviceIndex device);
  // A stream under a new name, or one whose stream is dead, on that device.
  Result<Done, std::string> make(const MakeStream& make, DeviceIndex device);
  // REQUIRES, here and below: it is known, by a name of its own, and not dead.
  Result<Done, std::string> destroy(const std::string& name, bool announced);
  void note_ending(const std::string& name) { streams_.at(name).is_ending = true; }
  // Memory of the device was asked for on the stream of this name.
  void note_device(const std::string& name, DeviceIndex device);
  // To which devices the stream is known: its own, and those whose memory was asked for under its
  // handle since the end of a stream of that handle was last announced. REQUIRES: it is known.
  std::set<DeviceIndex> devices(const std::string& name) const {
    return devices_.at(streams_.at(name).ref.handle);
  }

  const NamedStream* find(const std::string& name) const;  // Null: not known, `s0` or `ptds`.
  // Which stream of its device it is to the allocator.
  StreamId id(StreamRef stream) const;
  std::optional<StreamId> id(const std::string& name) const;  // None: the name is not known.
  // Which stream of the simulated machine; none of a dead handle.
  simulator::StreamNumber number(StreamRef stream) const { return gpu_.identify(stream); }

 private:
  StreamId per_thread_id() const;  // Of the calling thread.

  simulator::SimulatedGpu& gpu_;
  const StreamIdentity identity_;
  const model::Policy policy_;
  std::map<std::string, NamedStream> streams_;
  std::map<std::uint64_t, std::set<DeviceIndex>> devices_;  // By handle; see devices().
};

}  // namespace cairn::testing
