// What no Program can say: mistakes of callers, answers that no driver should give, callbacks, and
// host memory that ends, each at the public face.
#pragma once

#include <string>
#include <vector>

namespace cairn::faults {

// What did not go as documented, in words; empty where all did.
std::vector<std::string> check_face();

}  // namespace cairn::faults
