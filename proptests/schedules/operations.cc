#include "operations.h"

#include <cstdio>
#include <cstdlib>

#include "testing/parser.h"

namespace cairn::testing {
namespace {

// On s1: a and b side by side in a segment of small blocks with room, u in one of large blocks with
// room, which two other streams use, one of them for long, and v, which one uses. On s2: a segment
// that is free. 62 MiB are taken.
constexpr const char* cached = R"(
alloc a 512KiB s1
alloc b 512KiB s1
alloc u 4MiB s1
use u s2
use u s3
launch s2 u 5
launch s3 u 50
alloc v 512KiB s1
use v s2
launch s2 v 20
alloc c 4MiB s2
free c
alloc d 4MiB s3
)";

// The same, and one that waits for an event that is done and one that is not.
constexpr const char* waiting = R"(
alloc p 512KiB s1
use p s2
use p s3
launch s2 p 1
launch s3 p 30
free p
advance 3
)";

std::string with(std::string text, const std::string& what, const std::string& instead) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what))
    text.replace(at, what.size(), instead);
  return text;
}

}  // namespace

const std::vector<NamedOperation>& named_operations() {
  static const std::vector<NamedOperation> all{
      {"hit", "alloc {} 512KiB s1"},
      {"hit_of_another_stream", "alloc {} 4MiB s2"},
      {"miss", "alloc {} 1.5MiB s4"},
      {"large_miss", "alloc {} 24MiB s1"},
      {"out_of_memory", "alloc {} 200MiB s1"},
      {"free", "free a"},
      {"free_of_neighbour", "free b"},
      {"free_checked", "free a size=512KiB stream=s1"},
      {"free_used", "free u"},
      {"free_used_once", "free v"},
      {"free_on", "free b on s2"},
      {"use", "use a s2"},
      {"hit_and_work", "alloc {} 512KiB s1\nT#: launch s1 {} 5"},
      {"forget_stream", "destroy_stream s3"},
      {"process_events", "poll"},
      {"empty_cache", "empty_cache"},
      {"memory_fraction", "memory_fraction 0.5"},
      {"reconfigure", "reconfigure roundup_power2_divisions:4,max_split_size_mb:21"},
      {"statistics", "expect reserved >= 0"},
      {"map", "expect live_blocks >= 0"},
      {"reset_peaks", "reset peak"},
  };
  return all;
}

const std::vector<std::string>& chosen_triples() {
  static const std::vector<std::string> all{
      "hit+free+empty_cache",
      "large_miss+large_miss+empty_cache",
      "free_used+hit+process_events",
      "free_used+forget_stream+process_events",
      "free+free_checked+hit_of_another_stream",
      "large_miss+free+reconfigure",
      "out_of_memory+free+statistics",
      "use+free_on+forget_stream",
      "hit+hit_of_another_stream+map",
      "large_miss+memory_fraction+free_used",
  };
  return all;
}

const std::vector<StartState>& start_states() {
  static const std::vector<StartState> all{
      {"roomy", std::string("gpu 0 memory=160MiB\n") + cached},
      {"tight", std::string("gpu 0 memory=64MiB\n") + cached},
      {"waiting", std::string("gpu 0 memory=64MiB\n") + cached + waiting},
      {"unlocked", std::string("gpu 0 memory=84MiB\nconf release_lock_on_cudamalloc:True\n") +
                       cached + waiting},
      {"callbacks", std::string("gpu 0 memory=64MiB\n") + cached, true},
  };
  return all;
}

Program program_of(const StartState& state, const std::vector<NamedOperation>& operations) {
  std::string text = state.lines + "parallel {\n";
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    std::string lines = with("T#: " + operations[i].lines, "{}", "new" + number);
    text += with(std::move(lines), "#", number) + "\n";
  }
  auto program = parse_program(text + "}\n");
  if (program) return *program;
  std::fprintf(stderr, "line %d: %s\n%s", program.error().line, program.error().message.c_str(),
               text.c_str());
  std::abort();
}

}  // namespace cairn::testing
