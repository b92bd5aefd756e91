// What an allocation does when no cached block fits: ask the driver for a segment, and while it has
// no memory, make room and ask again, a rung at a time:
//
//   1. ask the driver;
//   2. where max_split_size is limited: give back oversize segments; if they are enough, ask;
//   3. give back every segment that nobody uses, and ask;
//   4. fail, out of memory.
//
// An error of the driver that is not out of memory ends the climb at once.
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "cairn/errors.h"
#include "driver/driver.h"
#include "heap/heap.h"

namespace cairn {

class RetryLadder {
 public:
  RetryLadder(Heap& heap, Driver& driver, const HeapRequest& request)
      : heap_(heap), driver_(driver), request_(request) {}

  // Gives the address of a new live block. Throws std::bad_alloc, and then no more has changed
  // than that cached memory may have gone back to the driver.
  Result<Address, Error> climb();

 private:
  // Whether there is reason to ask the driver (again), or why the climb ends.
  using Room = Result<bool, Error>;
  using Rung = Room (RetryLadder::*)();
  Room ask_first();
  Room release_oversize();
  Room release_all();

  Result<Address, Error> hand_out(Address segment, Bytes size);
  Error fail();

  Heap& heap_;
  Driver& driver_;
  const HeapRequest& request_;
};

}  // namespace cairn
