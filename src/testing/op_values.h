// What the values of the fields of a Setup and of an Op stand for: settings, memory, faults, and
// other things that depend on nothing else.
// Thread safety: pure functions.
#pragma once

#include <array>
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
// From this variant on an operation asks for what cannot be.
inline constexpr std::uint8_t impossible = 0xf8;
// What cannot be read, or cannot change: each may follow new settings.
inline constexpr std::array impossible_settings{",best_fit_tie:address", ",stream_identity:id",
                                                ",pytorch_defects:True", ",max_split_size_mb:many"};

std::optional<Bytes> alignment_of(const Op& op);
std::uint64_t ticks_of(const Op& op);
double fraction_of(const Op& op);
Fault fault_of(const Op& op, bool may_last);

}  // namespace cairn::testing
