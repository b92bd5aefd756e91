// What the names of a Program's threads, streams and blocks are to the decoder that is driven along
// while the Program becomes a tape.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "testing/op_decoder.h"
#include "testing/op_encoder.h"

namespace cairn::testing {

class EncoderNames {
 public:
  // REQUIRES: the decoder outlives it.
  explicit EncoderNames(const OpDecoder& decoder) : decoder_(decoder) {}

  // What there is at the start: the streams and blocks of the world, and what the decoder declares.
  void begin(const EncodedWorld& world, const std::vector<Statement>& declarations);
  // A statement of the Program was carried out, as this one of the decoder.
  void learn(const Statement& ours, const Statement& theirs);

  // The thread's place among the decoder's threads: that of its number, where it is free.
  std::optional<std::size_t> thread(int number);
  // None, here and below, where the name is not known.
  const KnownStream* stream(const std::string& name) const;
  bool knows_stream(const std::string& name) const { return streams_.contains(name); }
  // Of a stream as this thread of the decoder names it.
  std::optional<StreamPlace> place(const std::string& name, int thread) const;
  // Place among the blocks that are live, and that are freed.
  std::optional<std::size_t> live(const std::string& name) const;
  std::optional<std::size_t> freed(const std::string& name) const;

 private:
  const OpDecoder& decoder_;
  std::map<std::string, std::string> blocks_;  // The Program's name, and the decoder's.
  std::map<std::string, std::string> streams_;
  std::map<int, std::size_t> threads_;  // The Program's number, and the place.
};

}  // namespace cairn::testing
