#include "testing/run_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "testing/liar_in_test.h"
#include "testing/op_run.h"
#include "testing/parser.h"

namespace cairn::testing {
namespace {

std::vector<Program> some_programs() {
  std::vector<Program> programs;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) programs.push_back(run_seed(seed, 60).program);
  return programs;
}

std::vector<std::string> alone(const std::vector<Program>& programs,
                               const WorldOptions& options = {}) {
  std::vector<std::string> logs;
  for (const Program& program : programs) logs.push_back(log_of(program, options));
  return logs;
}

// A statement of each in turn.
std::vector<std::string> interleaved(const std::vector<Program>& programs,
                                     const WorldOptions& options = {}) {
  std::vector<std::unique_ptr<RunLog>> runs;
  for (const Program& program : programs)
    runs.push_back(std::make_unique<RunLog>(program, options));
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const auto& run : runs) goes_on = run->step() || goes_on;
  }
  std::vector<std::string> logs;
  for (const auto& run : runs) logs.push_back(run->text());
  return logs;
}

TEST(RunLog, says_what_happened) {
  const auto program = parse_program("gpu 0 memory=64MiB\nalloc a 1000\nfree b\nalloc c 1GiB\n");
  const std::string log = log_of(*program);
  for (const char* part :
       {"2: alloc a 1000\n  malloc device=0 size=2097152 address=0x", "\n  address 0x",
        "allocation.all.current=1", "\n  ok\n3: free b\n  mistake: ", "error=out_of_memory",
        "\n  out_of_memory 2: ", "\n  failed\nend\n", "num_ooms=1"})
    EXPECT_NE(log.find(part), std::string::npos) << part << "\n" << log;
}

TEST(RunLog, shows_the_map) {
  std::string text = "gpu 0 memory=64MiB\nalloc a 1000\nalloc b 3MiB\n";
  for (int i = 0; i < 40; ++i) text += "advance 1\n";
  const std::string log = log_of(*parse_program(text));
  EXPECT_NE(log.find("+1024/1000,active_allocated"), std::string::npos) << log;
  EXPECT_NE(log.find(" large: "), std::string::npos) << log;
}

TEST(RunLog, is_the_same_each_time) {
  const auto programs = some_programs();
  EXPECT_EQ(alone(programs), alone(programs));
}

TEST(RunLog, is_the_same_whether_it_is_checked_or_not) {
  const auto programs = some_programs();
  WorldOptions unchecked;
  unchecked.lockstep = false;
  unchecked.checkers = false;
  EXPECT_EQ(alone(programs), alone(programs, unchecked));
}

TEST(RunLog, of_interleaved_programs_is_that_of_each_alone) {
  const auto programs = some_programs();
  EXPECT_EQ(alone(programs), interleaved(programs));
}

TEST(RunLog, of_programs_on_two_threads_is_that_of_each_alone) {
  const auto programs = some_programs();
  const auto expected = alone(programs);
  std::vector<std::string> first;
  std::thread other([&] { first = alone(programs); });
  const auto second = interleaved(programs);
  other.join();
  EXPECT_EQ(first, expected);
  EXPECT_EQ(second, expected);
}

// Fails each fifth malloc of all that share the count.
class Sharing final : public Liar {
 public:
  Sharing(Driver& below, std::atomic<int>& count) : Liar(below), count_(count) {}
  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
    if (++count_ % 5 == 0) return Failure{CudaStatus::out_of_memory};
    return Liar::malloc(device, size);
  }

 private:
  std::atomic<int>& count_;
};

TEST(RunLog, differs_where_programs_share_something) {
  const auto programs = some_programs();
  std::atomic<int> count{0};
  WorldOptions sharing;
  sharing.wrap_driver = [&](Driver& below) { return std::make_unique<Sharing>(below, count); };
  const auto expected = alone(programs, sharing);
  count = 0;
  EXPECT_EQ(alone(programs, sharing), expected);
  count = 0;
  EXPECT_NE(interleaved(programs, sharing), expected);
}

}  // namespace
}  // namespace cairn::testing
