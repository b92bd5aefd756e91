// Makes statements for World of operation records: declarations first, then for each operation the
// statement that it means, and before that what the rules of streams demand, in the knowledge of
// what became of all those before. The Programs that come of it keep these rules, often by the
// least that will do: work on another stream than the block's waits for the block's stream, and
// before a free that stream is recorded, or ordered before the block's, or waited for. So an
// allocator that hands memory out early is seen by the judge, and nothing else is. The same tape
// and the same outcomes give the same statements.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "testing/dice.h"
#include "testing/op.h"
#include "testing/program.h"
#include "testing/program_state.h"

namespace cairn::testing {

class OpDecoder {
 public:
  // `lets_others_in`: allocations come with a `during` now and then.
  explicit OpDecoder(const Setup& setup, bool lets_others_in = false);

  // Devices, settings, segments and streams that are there at the start.
  std::vector<Statement> declarations();

  // Begins the operation. REQUIRES: next() gave all of the one before.
  void begin(const Op& op);
  // Its next statement; none after the last one.
  std::optional<Statement> next();
  // What became of the statement that next() gave last: whether it did what it says.
  void done(const Statement& statement, bool succeeded);

  // The same of statements in a body that ran within it, which say by themselves how they failed.
  void done_within(const std::vector<Statement>& body);

  // Whether the statement may turn out to be a mistake of the Program: it names a block that was
  // freed, whose memory may be another's by now. No other statement may.
  bool may_be_mistaken(const Statement& statement) const;
  // Nothing can be allocated any more, since devices are lost: the Program may end here.
  bool is_stuck() const { return failures_in_a_row_ >= 40; }

  const ProgramState& state() const { return state_; }
  // ---- for those who look for the operation that says a statement ----
  // By their place: the threads that an operation's `thread` is one of, modulo how many there are;
  // and the streams of the device that `stream` is one of, where this thread says it.
  const std::vector<int>& threads() const { return threads_; }
  std::vector<StreamPlace> places(DeviceIndex device, int thread) const;

 private:
  // Who can say a statement, and on which current device; none: on any.
  struct Speaker {
    int thread = 0;
    std::optional<DeviceIndex> device;
  };

  void declare_segment(std::vector<Statement>& statements);
  MakeStream new_stream(DeviceIndex device, bool blocking);

  // ---- plans (op_decoder_plans.cc): statements that belong together ----
  void plan_alloc();
  void plan_others(int allocates);
  void plan_within(int thread);
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

  // ---- what the operation's fields mean now ----
  Speaker anyone() const { return {thread(), {}}; }
  int thread() const { return threads_[op_.thread % threads_.size()]; }
  DeviceIndex device() const { return static_cast<DeviceIndex>(op_.device % devices_); }
  StreamPlace place(std::uint8_t index, DeviceIndex device) const {
    const auto all = places(device, thread());
    return all[index % all.size()];
  }
  StreamPlace place() const { return place(op_.stream, device()); }
  template <class Value>
  const Value& pick(const std::vector<Value>& values) const {
    return values[op_.block * values.size() >> 16];
  }
  const KnownBlock& block() const { return pick(state_.live()); }
  const std::string& freed() const { return pick(state_.freed()); }  // Its name.
  std::string next_block() { return "a" + std::to_string(blocks_named_++); }
  const KnownStream* pick_stream(KnownStream::Life life, std::uint8_t index) const;
  std::size_t count_streams() const;
  bool is_on(std::uint8_t bit) const { return (setup_.switches & bit) != 0; }

  const Setup setup_;
  const bool lets_others_in_;
  const int devices_;
  const std::size_t most_live_;
  const std::size_t most_streams_;  // By name, at a time.
  std::vector<int> threads_;
  int next_thread_ = 4;
  ProgramState state_;
  Op op_;
  Dice dice_{0};  // By the operation's luck.
  std::vector<Statement> plan_;
  std::size_t next_ = 0;  // Of the plan.
  std::uint64_t blocks_named_ = 0;
  std::uint64_t streams_named_ = 0;
  int failures_in_a_row_ = 0;  // Of allocations.
};

}  // namespace cairn::testing
