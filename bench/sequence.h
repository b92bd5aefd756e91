// A sequence of requests, as a program made them or a generator drew them: what is replayed
// against each contender.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cairn/stream.h"

namespace cairn::bench {

enum class StepKind : std::uint8_t { allocate, free, use };

struct Step {
  StepKind kind = StepKind::allocate;
  std::uint16_t stream = 0;  // allocate: the block's; use: another one. 0 is the default stream.
  std::uint32_t block = 0;   // Which block, of Sequence::blocks.
  std::uint64_t size_bytes = 0;  // allocate
};

struct Sequence {
  std::string name;
  std::uint32_t blocks = 0;
  std::vector<Step> steps;  // Each block is allocated once, and freed at most once.

  std::uint32_t allocate(std::uint64_t size_bytes, std::uint16_t stream = 0) {
    steps.push_back({StepKind::allocate, stream, blocks, size_bytes});
    return blocks++;
  }
  void free(std::uint32_t block) { steps.push_back({StepKind::free, 0, block, 0}); }
  void use(std::uint32_t block, std::uint16_t stream) {
    steps.push_back({StepKind::use, stream, block, 0});
  }
};

// A handle as CUDA gives them: no default stream, and an address.
inline Stream stream_numbered(std::uint16_t number) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA's handles are such pointers.
  return reinterpret_cast<Stream>(static_cast<std::uintptr_t>(number) << 12);
}

// Carries out all steps. `addresses` has room for all blocks; those that are live at the end stay.
template <class Contender>
void play(const Sequence& sequence, Contender& contender, std::vector<void*>& addresses) {
  for (const Step& step : sequence.steps) {
    void*& address = addresses[step.block];
    if (step.kind == StepKind::allocate) {
      address = contender.allocate(step.size_bytes, stream_numbered(step.stream));
    } else if (step.kind == StepKind::free) {
      contender.free(address);
    } else {
      contender.record_stream(address, stream_numbered(step.stream));
    }
  }
}

// The highest sum of the sizes of live blocks, each made a multiple of `granularity_bytes`.
inline std::uint64_t peak_of_live(const Sequence& sequence, std::uint64_t granularity_bytes = 1) {
  std::vector<std::uint64_t> sizes(sequence.blocks);
  std::uint64_t live = 0;
  std::uint64_t peak = 0;
  for (const Step& step : sequence.steps) {
    std::uint64_t& size = sizes[step.block];
    if (step.kind == StepKind::allocate) {
      size = (step.size_bytes + granularity_bytes - 1) / granularity_bytes * granularity_bytes;
      live += size;
    } else if (step.kind == StepKind::free) {
      live -= size;
    }
    peak = std::max(peak, live);
  }
  return peak;
}

}  // namespace cairn::bench
