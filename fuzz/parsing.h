// What must hold of whatever makes a Program of any bytes.
// Thread safety: pure functions. What does not hold aborts.
#pragma once

#include "testing/import_result.h"
#include "testing/program.h"

namespace cairn::fuzz {

void must(bool holds);

// It prints, and the print is read as the same Program and prints the same again.
void must_print(const testing::Program& program);

// Refused with a reason, or a Program that prints.
void must_be_whole(const testing::ImportResult<testing::Imported>& imported);

}  // namespace cairn::fuzz
