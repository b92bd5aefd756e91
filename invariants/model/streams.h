// Which stream a handle names, and how the driver can be told of it. Shared by all devices, since a
// call to one of them may be the one that shows that a handle was given to another stream.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "cairn/errors.h"
#include "cairn/options.h"
#include "invariants/model/model.h"
#include "invariants/model/policy.h"

namespace cairn::model {

// How work on a stream can be waited for.
struct Reach {
  enum class Way { direct, context, retired };
  Way way = Way::direct;
  std::uint64_t handle = 0;  // That the driver is told, if direct.
  int cuda_code = 0;         // Of the failure to learn it.
};

class Streams {
 public:
  // What a handle names, or why it names nothing.
  struct Named {
    ErrorCode code = ErrorCode::none;
    int cuda_code = 0;  // Of a cuda_error.
    StreamKey key;
  };

  Streams(const Options& options, Environment& environment)
      : identity_(options.stream_identity), policy_(options), environment_(environment) {}

  // Asks the driver where streams go by their id, unless the device is lost.
  Named name(StreamName stream, bool device_is_lost);
  // The stream has ended; its handle may name another.
  void forget(StreamName stream);
  // Asks the driver again where streams go by their id.
  Reach reach(StreamKey key) const;

 private:
  // What the driver said last of a handle.
  struct Said {
    StreamName stream;
    StreamId id;
  };

  StreamId per_thread() const;  // Of the calling thread.
  Named ask(StreamName stream);
  Said* said_of(StreamName stream);
  Reach reach_by_id(StreamKey key) const;

  const StreamIdentity identity_;
  const Policy policy_;
  Environment& environment_;
  std::vector<Said> said_;
};

}  // namespace cairn::model
