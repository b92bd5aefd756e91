// How the library is to behave, from the environment. Cairn's own settings are those of
// CAIRN_ALLOC_CONF (cairn/options.h).
#pragma once

#include <string>

namespace cairn::preload {

struct Settings {
  bool frees_by_event = false;  // CAIRN_PRELOAD_FREE=event; by default =synchronize.
  bool shares_memory = false;   // CAIRN_PRELOAD_IPC=1: cudaMalloc's memory can be shared by IPC.
  bool reports = false;         // CAIRN_PRELOAD_REPORT=1: says at exit what was done.
  std::string fault;            // All that is wrong with them, in words; empty where nothing is.
};

// Reads them when it is first called.
const Settings& settings();

}  // namespace cairn::preload
