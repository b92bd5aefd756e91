#include "property.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "testing/play.h"
#include "testing/printer.h"
#include "testing/shrink.h"

namespace cairn::testing {
namespace {

Histogram executed;

std::string parameters() {
  const char* set = std::getenv("RC_PARAMS");  // NOLINT(concurrency-mt-unsafe)
  return set == nullptr ? "" : set;
}

bool has_key(std::string_view parameters, std::string_view key) {
  const std::string spaced = " " + std::string(parameters);
  return spaced.find(" " + std::string(key) + "=") != std::string::npos;
}

// Of a property that held: what it did not get to see.
::testing::AssertionResult was_exercised(const Property& property, const Tally& tally,
                                         std::uint64_t cases, const Histogram& histogram) {
  if (cases == 0) return ::testing::AssertionFailure() << "no case was run";
  if (histogram.total_without_effect() * 5 > histogram.total())
    return ::testing::AssertionFailure() << "too much without effect:\n" << in_words(histogram);
  for (const Floor& floor : property.floors) {
    const std::uint64_t seen = tally.of(floor.what);
    const bool is_enough = cases < 50 || seen * 100 >= floor.times * cases;
    if (!is_enough)
      return ::testing::AssertionFailure()
             << "in " << cases << " cases there were " << seen << " " << floor.what << " only ("
             << floor.times << " in 100 are wanted): " << tally.in_words();
  }
  return ::testing::AssertionSuccess();
}

}  // namespace

::testing::AssertionResult holds(const std::string& name, const Property& property) {
  Tally tally;
  Tally unread;
  Histogram histogram;
  std::uint64_t cases = 0;
  WorldOptions options;
  options.lockstep = property.lockstep;
  options.checkers = property.checkers;
  WorldOptions while_shrinking = options;
  options.make_observer = watch(property.promises, tally);
  while_shrinking.make_observer = watch(property.promises, unread);
  const bool held = rc::check(name, [&] {
    const Swarm swarm = *swarms(property.taste);
    const Tape tape = *tapes(swarm);
    const OpRun run = run_tape(tape, options);
    histogram += run.histogram;
    ++cases;
    if (!run.holds()) RC_FAIL(describe_failure(name, run, while_shrinking));
  });
  executed += histogram;
  if (!held)
    return ::testing::AssertionFailure() << "see above; RC_PARAMS=\"" << parameters() << "\"";
  std::fprintf(stderr, "seen: %s\n", tally.in_words().c_str());
  return was_exercised(property, tally, cases, histogram);
}

std::string describe_failure(const std::string& name, const OpRun& run,
                             const WorldOptions& options) {
  OpRun shortest = run;
  std::string doubt;
  if (!run.mistake) {
    shortest.program = shrink(run.program, options);
    shortest.result = play(shortest.program, options).result;
  }
  if (shortest.holds()) {
    shortest = run;
    doubt = "not found again when the program was played, so it is not short\n";
  }
  const auto path = std::filesystem::absolute("property_" + name + ".program");
  std::ofstream(path) << print_program(shortest.program);
  return in_words(shortest) + doubt + "saved as " + path.string() + "\nseed: RC_PARAMS=\"" +
         parameters() + "\"";
}

const Histogram& executed_operations() { return executed; }

std::string with_seed(const std::string& parameters) {
  if (has_key(parameters, "seed")) return parameters;
  std::random_device random;
  const std::uint64_t seed = (std::uint64_t{random()} << 32) + random();
  return parameters + (parameters.empty() ? "" : " ") + "seed=" + std::to_string(seed);
}

std::optional<std::string> refusal_of(std::string_view parameters) {
  if (!has_key(parameters, "reproduce")) return std::nullopt;
  return "RC_PARAMS holds a reproduce=, with which all other properties pass without a case; "
         "give the seed= instead";
}

}  // namespace cairn::testing
