// What a Program has done so far, as far as its next statements depend on it: which streams,
// threads and blocks there are, and for each block which streams may work on it and which have.
// By it OpDecoder makes Programs that keep to the rules of streams (README.md, Mistakes).
//
// Not thread-safe.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "testing/program.h"

namespace cairn::testing {

// A stream: s0 is one for each device, ptds one for each device and thread, others go by name.
struct StreamPlace {
  std::string name;
  DeviceIndex device = 0;
  int thread = 0;  // Of ptds, else 0.

  friend auto operator<=>(const StreamPlace&, const StreamPlace&) = default;
  friend bool operator==(const StreamPlace& a, const StreamPlace& b) {
    return a.device == b.device && a.thread == b.thread && a.name == b.name;
  }
};

struct KnownStream {
  // ending: it could not be destroyed. recycled: another has its handle.
  enum class Life { alive, ending, announced, unannounced, recycled };
  StreamPlace place;
  bool is_blocking = false;
  Life life = Life::alive;
};

struct KnownBlock {
  std::string name;
  Bytes size;
  DeviceIndex device = 0;
  StreamPlace own;
  bool is_ready = false;              // Work from before the block is done.
  bool is_untouchable = false;        // Its stream was dead already.
  std::vector<StreamPlace> ready;     // Wait for what was on the block's stream before it.
  std::vector<StreamPlace> touched;   // Have worked on it, and the block's stream does not wait.
  std::vector<StreamPlace> recorded;  // The allocator was told of.
};

class ProgramState {
 public:
  // The statement was carried out, and did what it says.
  void apply(const Statement& statement);
  // It failed. What was announced to some device is not taken back.
  void apply_failed(const Statement& statement);
  // A live block that was there at the start.
  void add_initial_block(const std::string& name, Bytes size, DeviceIndex device);

  const std::vector<KnownBlock>& live() const { return live_; }     // The oldest first.
  const std::vector<std::string>& freed() const { return freed_; }  // Names, the latest last.
  const std::vector<KnownStream>& streams() const { return streams_; }
  DeviceIndex current_device(int thread) const;

  bool is_alive(const StreamPlace& place) const;
  // Whether CUDA itself lets later work on `after` wait for what is on `before`: one of them is the
  // legacy stream. What waits for that work through others alone does not wait by itself.
  bool is_ordered_by_itself(const StreamPlace& before, const StreamPlace& after) const;
  // Whether a kernel on `place` may use the block now.
  bool may_touch(const StreamPlace& place, const KnownBlock& block) const;
  // The streams that must be recorded, ordered before the block's stream, or waited for before the
  // block is freed.
  std::vector<StreamPlace> owed(const KnownBlock& block) const;

 private:
  void act(int thread, const SetDevice& set);
  void act(int thread, const MakeStream& make);
  void act(int thread, const DestroyStream& destroy);
  void act(int thread, const Launch& launch);
  void act(int thread, const Order& order);
  void act(int thread, const Sync& sync);
  void act(int thread, const Alloc& alloc);
  void act(int thread, const Free& free);
  void act(int thread, const Use& use);
  void act(int thread, const ThreadExit& exit);
  template <class Other>
  void act(int, const Other&) {}

  std::optional<StreamPlace> place_of(const std::string& name, int thread,
                                      std::optional<DeviceIndex> gpu = {}) const;
  const KnownStream* find_stream(const std::string& name) const;
  KnownBlock* find_block(const std::string& name);
  bool is_blocking(const StreamPlace& place) const;

  std::map<int, DeviceIndex> current_devices_;
  std::vector<int> ended_threads_;
  std::vector<KnownStream> streams_;
  std::vector<KnownBlock> live_;
  std::vector<std::string> freed_;
};

}  // namespace cairn::testing
