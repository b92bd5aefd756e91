// Gives the GIL up as long as it lives, as pybind11's gil_scoped_release does, but at the end of
// the interpreter too: a daemon thread that asks for the GIL then is ended by Python through an
// unwinding of its stack, which pybind11's functions do not survive. Here it stands still instead,
// as in Python 3.14, until the process is gone.
//
// REQUIRES: made and ended by one thread, which has the GIL when it is made.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

namespace cairn::python {

class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {  // The unwinding, which would go on from here.
      for (;;) pause();
    }
  }

 private:
  PyThreadState* state_;
};

}  // namespace cairn::python
