#include "bench/peers/workload.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <type_traits>
#include <utility>

namespace cairn::bench::peers {
namespace {

static_assert(std::is_trivially_copyable_v<Step>);

struct Header {
  std::array<char, 16> magic{'c', 'a', 'i', 'r', 'n', ' ', 'w', 'o', 'r', 'k', 'l', 'o', 'a', 'd'};
  std::uint64_t blocks = 0;
  std::uint64_t steps = 0;
  std::uint64_t first_timed = 0;
};

// Steps that no sequence has, such as a use of a block that is not live.
bool is_sound(const Workload& workload) {
  std::vector<bool> is_live(workload.sequence.blocks);
  for (const Step& step : workload.all()) {
    const bool allocates = step.kind == StepKind::allocate;
    if (step.kind > StepKind::use || step.block >= is_live.size() ||
        is_live[step.block] == allocates || (allocates && step.size_bytes == 0)) {
      return false;
    }
    if (step.kind != StepKind::use) is_live[step.block] = allocates;
  }
  return true;
}

}  // namespace

void complete(Workload& workload) {
  Sequence& sequence = workload.sequence;
  std::vector<Step> live(sequence.blocks);  // As free steps; those of no size are not live.
  for (Step& step : sequence.steps) {
    Step& block = live[step.block];
    if (step.kind == StepKind::allocate) {
      block = {StepKind::free, step.stream, step.block, step.size_bytes};
    } else if (step.kind == StepKind::free) {
      step = block;
      block.size_bytes = 0;
    }
    workload.last_stream = std::max(workload.last_stream, step.stream);
  }
  std::erase_if(live, [](const Step& block) { return block.size_bytes == 0; });
  workload.last_frees = std::move(live);
  workload.peak_live_bytes = peak_of_live(sequence);
}

bool write_workload(const Workload& workload, const std::string& path) {
  Header header;
  header.blocks = workload.sequence.blocks;
  header.steps = workload.sequence.steps.size();
  header.first_timed = workload.first_timed;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  file.write(reinterpret_cast<const char*>(workload.sequence.steps.data()),
             static_cast<std::streamsize>(header.steps * sizeof(Step)));
  return static_cast<bool>(file.flush());
}

Result<Workload, std::string> read_workload(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Failure{path + ": cannot be read"};
  Header header;
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  const bool is_whole = file && !error && header.magic == Header().magic && header.steps <= size &&
                        header.blocks <= header.steps && header.first_timed <= header.steps &&
                        size == sizeof header + header.steps * sizeof(Step);
  if (!is_whole) return Failure{path + ": not a workload that peer_workloads wrote"};
  Workload workload;
  workload.sequence.name = std::filesystem::path(path).stem();
  workload.sequence.blocks = static_cast<std::uint32_t>(header.blocks);
  workload.sequence.steps.resize(header.steps);
  workload.first_timed = header.first_timed;
  file.read(reinterpret_cast<char*>(workload.sequence.steps.data()),
            static_cast<std::streamsize>(header.steps * sizeof(Step)));
  if (!file || !is_sound(workload)) return Failure{path + ": its steps make no sense"};
  complete(workload);
  return workload;
}

}  // namespace cairn::bench::peers
