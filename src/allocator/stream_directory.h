// What the handles of callers mean: which stream a handle names, and how the driver can be told of
// a stream. The rules are those of README.md, "Streams".
//
// Thread-safe; what is direct depends on the calling thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/guarded.h"
#include "base/ids.h"
#include "base/result.h"
#include "cairn/errors.h"
#include "cairn/options.h"
#include "driver/driver.h"
#include "heap/deviations.h"

namespace cairn {

class StreamDirectory {
 public:
  StreamDirectory(Driver& driver, const Options& options)
      : driver_(driver), identity_(options.stream_identity), deviations_(options) {}
  StreamDirectory(const StreamDirectory&) = delete;
  StreamDirectory& operator=(const StreamDirectory&) = delete;

  // Whether it is plain to see which stream the handle names, and that stream.
  bool is_plain(StreamRef stream) const {
    if (stream.handle <= legacy_stream_handle) return true;
    return is_made(stream) && identity_ != StreamIdentity::id;
  }
  // REQUIRES: is_plain(stream).
  static StreamId plain(StreamRef stream) {
    return stream.handle <= legacy_stream_handle ? legacy_default_stream : StreamId{stream.handle};
  }
  // Which stream the handle names. Fails for a handle that can be none, and where the driver does
  // not say.
  Result<StreamId, Error> identify(StreamRef stream);
  // Whether identify() asks the driver.
  bool asks_driver(StreamRef stream) const {
    return identity_ == StreamIdentity::id && is_made(stream);
  }
  // Which stream the handle named when the driver was last asked; none if it never was.
  std::optional<StreamId> last_known(StreamRef stream) const;
  // As what the driver knows the stream, which is asked anew where streams go by its ids, since
  // handles are given to other streams. None: it cannot be told of this stream by itself, only of
  // the whole context. REQUIRES: the stream is not retired.
  DriverResult<std::optional<StreamRef>> direct(StreamKey stream) const;

  // The stream has ended; its handle may name another.
  void forget(StreamRef stream);

 private:
  struct Ids {  // Of streams that are known by the driver's ids; each the inverse of the other.
    std::map<StreamKey, std::uint64_t> handles;
    std::map<StreamRef, StreamId> latest;  // Which stream had the handle last.
  };

  // A handle of a stream that somebody made, not of a default one.
  static bool is_made(StreamRef stream) {
    return stream.handle > per_thread_stream_handle && stream.handle < first_special_stream;
  }
  StreamId per_thread() const;  // The calling thread's.
  Result<StreamId, Error> ask_for_id(StreamRef stream);
  std::optional<StreamRef> last_handle(StreamKey stream) const;

  Driver& driver_;
  const StreamIdentity identity_;
  const Deviations deviations_;
  Guarded<Ids> ids_;
};

}  // namespace cairn
