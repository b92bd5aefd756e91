// Runs a number of hits and prints nothing: for count_instructions, which runs it in valgrind.
//
//     hit_instructions same|random LIVE_BLOCKS PAIRS
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/cairn_contender.h"
#include "bench/churn.h"

int main(int argc, char** argv) {
  using namespace cairn::bench;
  const std::string_view kind = argc == 4 ? argv[1] : "";
  const std::size_t live_blocks = argc == 4 ? std::strtoul(argv[2], nullptr, 10) : 0;
  const std::size_t pairs = argc == 4 ? std::strtoul(argv[3], nullptr, 10) : 0;
  if ((kind != "same" && kind != "random") || live_blocks == 0 || pairs == 0) {
    std::fputs("usage: hit_instructions same|random LIVE_BLOCKS PAIRS\n", stderr);
    return 2;
  }
  const Victims victims = kind == "same" ? Victims::same : Victims::random;
  CairnContender cairn;
  Churn<CairnContender> churn(cairn, live_blocks);
  for (const auto victim : churn.draw(victims, pairs)) {
    churn.replace(victim);
  }
  return 0;
}
