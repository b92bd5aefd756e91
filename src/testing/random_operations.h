// A source of random operations for World: declarations first, then one operation after another,
// each made in the knowledge of what became of those before. The Programs that come of it keep the
// rules of streams, often by the least that will do: work on another stream than the block's waits
// for the block's stream, and before a free that stream is recorded, or ordered before the block's,
// or waited for. Kernels are long and time stands still for the most part, so that an allocator
// that hands memory out early is seen by the judge. Weights are drawn anew for each seed, so that
// long runs of one kind happen. The same seed and outcomes give the same operations.
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "testing/program.h"
#include "testing/random_operations_draws.h"
#include "testing/random_operations_state.h"

namespace cairn::testing {

class RandomOperations {
 public:
  explicit RandomOperations(std::uint64_t seed);

  // Devices, settings, segments and streams that are there at the start.
  std::vector<Statement> declarations();

  Statement next();
  // What became of the statement that next() gave last: whether it did what it says.
  void done(const Statement& statement, bool succeeded);

  // Whether the statement may turn out to be a mistake of the Program: it names a block that was
  // freed, whose memory may be another's by now. No other statement may.
  bool may_be_mistaken(const Statement& statement) const;
  // Nothing can be allocated any more, since devices are lost: the Program may end here.
  bool is_stuck() const { return failures_in_a_row_ >= 40; }

 private:
  enum Kind {
    alloc,
    free_block,
    launch,
    use,
    order,
    sync,
    advance,
    bad_free,
    poll,
    empty_cache,
    fault,
    make_stream,
    destroy_stream,
    memory_fraction,
    reconfigure,
    switch_device,
    thread_exit,
    reset,
    kind_count
  };
  // Who can say a statement, and on which current device; none: on any.
  struct Speaker {
    int thread = 0;
    std::optional<DeviceIndex> device;
  };

  void declare_segment(std::vector<Statement>& statements, DeviceIndex device);
  MakeStream draw_new_stream();

  // ---- plans (random_operations_plans.cc): statements that belong together ----
  Kind draw_kind();
  void plan(Kind kind);
  void plan_alloc();
  void plan_free();
  void plan_launch();
  void plan_use();
  void plan_order();
  void plan_sync();
  void plan_bad_free();
  void plan_make_stream();
  void plan_destroy_stream();
  void plan_thread_exit();
  // So that the kernel may use the block, or the block be freed without regard to the stream. False
  // where that cannot be, or is not wanted.
  bool make_ready(const KnownBlock& block, const StreamPlace& place);
  bool settle(const KnownBlock& block, const StreamPlace& place, std::optional<StreamPlace>& on);

  void say(const Speaker& speaker, Operation operation);
  bool say_order(const StreamPlace& before, const StreamPlace& after);
  bool say_use(const KnownBlock& block, const StreamPlace& place);
  void say_sync(const StreamPlace& place);  // Of its device, where the stream cannot be named.
  // None where no thread can name all these streams in one statement.
  std::optional<Speaker> speaker_of(std::initializer_list<StreamPlace> places);

  DeviceIndex draw_device() {
    return static_cast<DeviceIndex>(dice_.below(static_cast<std::uint64_t>(tastes_.devices)));
  }
  int draw_thread() { return dice_.pick(threads_); }
  StreamPlace draw_place(DeviceIndex device);
  StreamPlace draw_place();
  const KnownBlock& draw_block() { return dice_.pick(state_.live()); }
  const KnownStream* draw_stream(KnownStream::Life life);
  std::size_t count_streams() const;

  Dice dice_;
  Tastes tastes_;
  std::size_t most_streams_;  // By name, at a time.
  std::array<std::uint64_t, kind_count> weights_{};
  std::vector<int> threads_;
  int next_thread_;
  ProgramState state_;
  std::deque<Statement> plan_;
  std::uint64_t blocks_named_ = 0;
  std::uint64_t streams_named_ = 0;
  int failures_in_a_row_ = 0;  // Of allocations.
};

}  // namespace cairn::testing
