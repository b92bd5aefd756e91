// Sums that an importer checks: no fuzzer meets them by chance when it changes a number of a row.
//
// Thread safety: a pure function.
#pragma once

#include <string>
#include <string_view>

namespace cairn::fuzz {

// The table of two threads with each row's total made that of the row before and the row's own
// bytes. The first row keeps its total, and a row without six fields and a number of bytes is left
// as it is.
std::string with_running_totals(std::string_view table);

}  // namespace cairn::fuzz
