// Failures of Cairn as Python's exceptions (cairn/errors.py), with their quantities as attributes.
#pragma once

#include <pybind11/pybind11.h>

#include "cairn/errors.h"

namespace cairn::python {

// From now on what a function of this module throws becomes the exception that belongs to it.
void translate_exceptions();

// The exception that the error would be raised as. The caller holds the GIL. REQUIRES: error.code
// is not none.
pybind11::object exception_of(const Error& error);

}  // namespace cairn::python
