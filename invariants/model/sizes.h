// How many bytes: what a request is rounded up to, which pool serves it, how large a segment made
// for it is, and whether what is left of a block too large for it is split off.
//
// Pure functions.
#pragma once

#include "base/ids.h"
#include "base/units.h"
#include "cairn/options.h"

namespace cairn::model {

// REQUIRES of all: `request` is above 0 and below 2^60; `rounded` came from rounded_size.
Bytes rounded_size(Bytes request, const Options& options);
PoolKind pool_of(Bytes rounded);
Bytes segment_size(Bytes rounded, const Options& options);

// Of a block of which `rest` would be left over once `rounded` is taken.
bool splits_off(Bytes rounded, Bytes rest, const Options& options);

}  // namespace cairn::model
