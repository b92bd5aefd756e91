// Logs of RMM's logging adaptor, `Thread,Time,Action,Pointer,Size,Stream`. No addresses are
// expected: another allocator chose them.
//
// Threads become T1, T2, ... and streams s1, s2, ... in order of appearance; the handles 0 and 0x1
// are s0, and 0x2 is ptds. A free on another stream than the allocation's becomes `free ... on`.
// Rows of `allocate failure` and of null pointers are left out and counted.
#pragma once

#include <string_view>

#include "testing/import_result.h"

namespace cairn::testing {

struct RmmOptions {
  bool skip_unknown_frees = false;  // Of what the log never allocated: left out; else an error.
};

inline constexpr std::string_view rmm_header = "Thread,Time,Action,Pointer,Size,Stream";

ImportResult<Imported> import_rmm(std::string_view log, const RmmOptions& options = {});

}  // namespace cairn::testing
