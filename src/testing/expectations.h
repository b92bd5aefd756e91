// What `expect` asks for: each term's value, from the allocator's statistics and map, the names of
// the Program, and the simulated GPU.
//
// Not thread-safe. `ptds` is that of the calling thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cairn/block_map.h"
#include "cairn/errors.h"
#include "cairn/stats.h"
#include "testing/machine.h"
#include "testing/names.h"
#include "testing/program.h"
#include "testing/streams.h"

namespace cairn::testing {

__extension__ typedef __int128 WideInteger;  // Holds any sum of numbers of 64 bits.

std::string to_string(WideInteger value);

class Expectations {
 public:
  // By device, of the last request that ran out of memory or was rejected.
  using Reports = std::map<DeviceIndex, MemoryReport>;
  // How the allocator is looked at.
  struct Sight {
    std::function<DeviceStats(DeviceIndex)> stats;
    std::function<BlockMap(DeviceIndex)> map;
  };
  Expectations(Machine& machine, const Names& names, const Streams& streams, const Reports& reports,
               const Sight& sight)
      : machine_(machine), names_(names), streams_(streams), reports_(reports), sight_(sight) {}

  // The sum of the terms; or why one of them means nothing here.
  Result<WideInteger, std::string> sum(const std::vector<Term>& terms) const;

 private:
  using Value = Result<WideInteger, std::string>;

  Value value(const Term& term) const;
  Value of_stream(const std::string& name) const;
  Value of_block(const Range& range, const std::string& query) const;
  Value of_device(const Term& term, DeviceIndex device) const;
  Value of_out_of_memory(const std::string& field, DeviceIndex device) const;
  WideInteger of_map(const std::string& query, DeviceIndex device) const;

  Machine& machine_;
  const Names& names_;
  const Streams& streams_;
  const Reports& reports_;
  const Sight& sight_;
};

bool holds(WideInteger left, Comparison comparison, WideInteger right);

}  // namespace cairn::testing
