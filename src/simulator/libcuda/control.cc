#include "simulator/libcuda/control.h"

#include <cstdio>
#include <string>

#include "simulator/libcuda/machine.h"

using cairn::simulator::Machine;

extern "C" {

void cairn_sim_reset() { cairn::simulator::end_machine(); }

CUresult cairn_sim_launch(CUstream stream, unsigned long long ticks) {
  return cairn::simulator::in_current_context([&](Machine& machine, CUcontext current) {
    const auto named = machine.stream_of(stream, current);
    if (!named) return CUDA_ERROR_NOT_SUPPORTED;
    const bool is_launched{machine.gpu.launch(*named, {}, ticks)};
    return is_launched ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

void cairn_sim_advance(unsigned long long ticks) {
  cairn::simulator::with_machine([&](Machine& machine) {
    machine.gpu.advance(ticks);
    return CUDA_SUCCESS;
  });
}

int cairn_sim_violations(char* text, int size) {
  int count = 0;
  cairn::simulator::with_machine([&](Machine& machine) {
    std::string words;
    for (const auto& violation : machine.gpu.violations()) {
      words += violation.message + "\n";
      ++count;
    }
    std::snprintf(text, static_cast<std::size_t>(size), "%s", words.c_str());
    return CUDA_SUCCESS;
  });
  return count;
}

}  // extern "C"
