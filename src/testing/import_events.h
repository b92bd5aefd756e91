// Tables of allocation events, `device,seq,time_us,action,addr,size,stream,pool`, with the map that
// the allocator had at their beginning and, where it is known, the one that it had at their end.
#pragma once

#include <string>
#include <string_view>

#include "testing/import_result.h"

namespace cairn::testing {

struct EventFiles {
  std::string_view events;   // CSV.
  std::string_view initial;  // JSON, see import_map.h. Empty: nothing was there.
  std::string_view final;    // JSON. Empty: nothing is expected at the end.
  std::string best_fit_tie = "address";
};

inline constexpr std::string_view events_header = "device,seq,time_us,action,addr,size,stream,pool";

ImportResult<Imported> import_events(const EventFiles& files);

}  // namespace cairn::testing
