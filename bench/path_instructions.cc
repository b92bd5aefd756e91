// Runs one path a number of times, and lets callgrind count that alone: for count_instructions,
// which starts it in valgrind with nothing counted. Prints nothing.
#include <valgrind/callgrind.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cairn_contender.h"
#include "bench/churn.h"
#include "bench/sequence.h"
#include "testing/command_line.h"

namespace cairn::bench {
namespace {

// Counts as long as it lives.
class Counting {
 public:
  Counting() { CALLGRIND_START_INSTRUMENTATION; }
  ~Counting() { CALLGRIND_STOP_INSTRUMENTATION; }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
};

void hit(Victims victims, std::size_t live_blocks, std::size_t times) {
  CairnContender cairn;
  Churn<CairnContender> churn(cairn, live_blocks);
  const auto drawn = churn.draw(victims, times);
  const Counting counting;
  for (const auto victim : drawn) churn.replace(victim);
}

// As block/cross_stream of allocator_benchmark.
void cross_stream(std::size_t times) {
  CairnContender cairn;
  const auto once = [&] {
    void* block = cairn.allocate(std::size_t{1} << 20, stream_numbered(1));
    cairn.record_stream(block, stream_numbered(2));
    cairn.free(block);
  };
  for (std::size_t i = 0; i < 100; ++i) once();
  const Counting counting;
  for (std::size_t i = 0; i < times; ++i) once();
}

void miss(std::size_t times) {
  CairnContender cairn;
  const auto once = [&] { cairn.allocate(std::size_t{32} << 20); };
  for (std::size_t i = 0; i < 1000; ++i) once();
  const Counting counting;
  for (std::size_t i = 0; i < times; ++i) once();
}

// False where there is no such path.
bool run(std::string_view path, std::size_t times) {
  const std::size_t slash = path.find('/');
  const std::string_view kind = path.substr(0, slash);
  const std::string size(slash == std::string_view::npos ? "" : path.substr(slash + 1));
  const std::size_t live_blocks = std::strtoul(size.c_str(), nullptr, 10);
  if (kind == "same_victim" && live_blocks > 0) {
    hit(Victims::same, live_blocks, times);
  } else if (kind == "random_victim" && live_blocks > 0) {
    hit(Victims::random, live_blocks, times);
  } else if (path == "cross_stream") {
    cross_stream(times);
  } else if (path == "miss") {
    miss(times);
  } else {
    return false;
  }
  return true;
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  CLI::App app("Takes a hot path of the allocator, for count_instructions to count.");
  bool asks_compiler = false;
  std::string path;
  std::size_t times = 0;
  app.add_flag("--compiler", asks_compiler, "Say which compiler this is made by, and no more");
  app.add_option("PATH", path, "same_victim/LIVE, random_victim/LIVE, cross_stream or miss");
  app.add_option("TIMES", times, "How often");
  if (const auto code = cairn::testing::exit_code_of(app, argc, argv)) return *code;
  if (asks_compiler) {
    std::puts(__VERSION__);
    return 0;
  }
  if (times > 0 && cairn::bench::run(path, times)) return 0;
  std::fputs("path_instructions: no such path, or no times; --help says which there are\n", stderr);
  return 2;
}
