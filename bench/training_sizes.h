// What training asks for: the sizes of three recorded runs of a GPT "medium" (contexts of 128, 256
// and 1024 tokens; 20,741 allocations), each with how often it was asked for. Sizes that make up
// less than a thousandth are left out.
#pragma once

#include <array>
#include <cstddef>
#include <random>

namespace cairn::bench {

struct SizeCount {
  std::size_t size_bytes;
  unsigned count;
};

inline constexpr std::array<SizeCount, 22> training_sizes{{
    {4'194'304, 6493},  {16'777'216, 4933}, {4'096, 2562},
    {2'097'152, 2005},  {8'388'608, 1803},  {1'048'576, 552},
    {2'048, 375},       {16'384, 373},      {33'554'432, 313},
    {134'217'728, 264}, {268'435'456, 240}, {65'536, 144},
    {40'960'000, 104},  {32'768, 102},      {4, 102},
    {32, 98},           {131'072, 72},      {2, 48},
    {262'144, 48},      {8'192, 32},        {524'288, 24},
    {1'024, 24},
}};

// Draws sizes as training asks for them.
class TrainingSizes {
 public:
  TrainingSizes() {
    unsigned total = 0;
    for (std::size_t i = 0; i < training_sizes.size(); ++i) {
      total += training_sizes[i].count;
      up_to_[i] = total;
    }
  }

  std::size_t draw(std::mt19937_64& random) const {
    const auto ticket = static_cast<unsigned>(random() % up_to_.back());
    std::size_t i = 0;
    while (up_to_[i] <= ticket) ++i;
    return training_sizes[i].size_bytes;
  }

 private:
  std::array<unsigned, training_sizes.size()> up_to_{};
};

}  // namespace cairn::bench
