// By what a Program is made plainer: each move offers changed copies of it, the boldest first, to
// one who tries whether they still fail, and ends at the first that does. A copy need not make
// sense throughout; what of it does not is left out when it is played. Thread safety: pure
// functions, but for what `Try` does.
#pragma once

#include <functional>
#include <vector>

#include "testing/program.h"

namespace cairn::testing {

// True where it still fails: that is the Program from now on.
using Try = std::function<bool(const Program&)>;

// Operations to stand in the place of this one, the plainest first. None leads back to it.
std::vector<Operation> plainer(const Operation& operation);

// The same size everywhere in place of another.
bool use_plainer_sizes(const Program& program, const Try& attempt);
// Of two neighbours in a declared segment one takes the place of both.
bool use_fewer_declared_blocks(const Program& program, const Try& attempt);
// All that names one block goes, or it is no longer touched by kernels that touch more.
bool use_fewer_blocks(const Program& program, const Try& attempt);
// One takes the other's place everywhere.
bool use_fewer_streams(const Program& program, const Try& attempt);
bool use_fewer_devices(const Program& program, const Try& attempt);
bool use_fewer_threads(const Program& program, const Try& attempt);

// Blocks are a, b, c; streams s1, s2; threads T1, T2; all in the order in which they come.
bool use_plain_names(const Program& program, const Try& attempt);

}  // namespace cairn::testing
