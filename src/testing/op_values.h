// What the values of the fields of a Setup and of an Op stand for: settings, memory, faults, and
// other things that depend on nothing else.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"
#include "testing/dice.h"
#include "testing/op.h"
#include "testing/program.h"

namespace cairn::testing {

int devices_of(const Setup& setup);
GpuDecl gpu_of(const Setup& setup, DeviceIndex device);
// Text of `conf`; empty: no settings.
std::string settings_of(const Setup& setup);
// Text of `reconfigure`, now and then with a setting that cannot change.
std::string new_settings(Dice& dice);

std::optional<Bytes> alignment_of(const Op& op);
std::uint64_t ticks_of(const Op& op);
double fraction_of(const Op& op);
Fault fault_of(const Op& op, bool may_last);

}  // namespace cairn::testing
