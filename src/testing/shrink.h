// Makes a Program that finds something shorter: statements are taken out as long as what is left
// still finds something (delta debugging: Zeller and Hildebrandt, 2002).
// Thread safety: a pure function.
#pragma once

#include "testing/program.h"
#include "testing/world.h"

namespace cairn::testing {

// REQUIRES: play() of the program finds something.
Program shrink(const Program& program, const WorldOptions& options = {});

}  // namespace cairn::testing
