// A driver call as one line of text, for those who compare what two sides did.
// Thread safety: a pure function.
#pragma once

#include <string>

#include "driver/recording_driver.h"

namespace cairn {

// "malloc device=0 size=2097152 address=0x100000000000": the call, what went in, what came out, and
// `error=` where it failed. Members that the kind of call does not have are left out.
std::string text_of(const RecordedCall& call);

}  // namespace cairn
