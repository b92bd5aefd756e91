// What no Program can say: mistakes of callers, answers that no driver should give, callbacks, and
// host memory that ends, each at the public face.
#pragma once

#include <string>
#include <vector>

#include "tally.h"

namespace cairn::faults {

// What did not go as documented, in words; empty where all did. Counts the faults of the one driver
// call that no Program reaches: a segment goes back since there is no host memory to keep it.
std::vector<std::string> check_face(Tally& tally);

}  // namespace cairn::faults
