// Tables of allocations by several host threads,
// `ts_us,tid,addr,bytes,total_allocated,total_reserved`: bytes below 0 are a free, total_allocated
// is what was allocated after the row. No addresses are expected, since where the segments lay is
// not known.
//
// total_allocated counts what was live before the table began as well. After every operation the
// Program expects that `requested` and this offset make total_allocated. A block that the table
// frees and never allocated is allocated first, before all rows, by the thread that will free it;
// so the offset never changes.
#pragma once

#include <string_view>

#include "testing/import_result.h"

namespace cairn::testing {

inline constexpr std::string_view two_thread_header =
    "ts_us,tid,addr,bytes,total_allocated,total_reserved";

ImportResult<Imported> import_two_thread(std::string_view csv);

}  // namespace cairn::testing
