// Runs a number of hits and prints nothing: for count_instructions, which runs it in valgrind.
//
//     hit_instructions same|random LIVE_BLOCKS PAIRS
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/cairn_contender.h"
#include "bench/churn.h"

int main(int argc, char** argv) {
  using namespace cairn::bench;
  if (argc != 4) {
    std::fputs("usage: hit_instructions same|random LIVE_BLOCKS PAIRS\n", stderr);
    return 2;
  }
  const Victims victims = std::string_view(argv[1]) == "same" ? Victims::same : Victims::random;
  CairnContender cairn;
  Churn<CairnContender> churn(cairn, std::strtoul(argv[2], nullptr, 10));
  for (const auto victim : churn.draw(victims, std::strtoul(argv[3], nullptr, 10))) {
    churn.replace(victim);
  }
  return 0;
}
