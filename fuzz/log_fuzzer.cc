// Any bytes as a log of an allocator: a table of events, a log of RMM, a table of two threads or a
// map, told apart as `cairn import` does, by their beginning. After a form feed a table of events
// goes on with the map at its start, and after another one with the map at its end. What must hold:
// each is refused with a reason, or becomes a Program that prints and is read as the same.
//
// Three of four edits of a table of two threads leave totals that add up, which few edits of bytes
// would: what lies behind that check is reached then.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/parsing.h"
#include "fuzz/running_totals.h"
#include "testing/import_events.h"
#include "testing/import_map.h"
#include "testing/import_rmm.h"
#include "testing/import_two_thread.h"

namespace {

using cairn::fuzz::must_be_whole;

constexpr char between_files = '\f';

std::string_view take_file(std::string_view& rest) {
  const std::size_t end = rest.find(between_files);
  const std::string_view file = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return file;
}

void import_all_events(std::string_view rest) {
  cairn::testing::EventFiles files;
  files.events = take_file(rest);
  files.initial = take_file(rest);
  files.final = rest;
  must_be_whole(import_events(files));
}

}  // namespace

// There where libFuzzer is linked. Other engines may call the mutator without it.
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                                              std::size_t most_bytes);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most_bytes, unsigned seed) {
  if (LLVMFuzzerMutate == nullptr) return size;
  size = LLVMFuzzerMutate(data, size, most_bytes);
  const std::string_view log(reinterpret_cast<const char*>(data), size);
  if (seed % 4 == 0 || !log.starts_with(cairn::testing::two_thread_header)) return size;
  const std::string whole = cairn::fuzz::with_running_totals(log);
  if (whole.size() > most_bytes) return size;
  std::copy(whole.begin(), whole.end(), data);
  return whole.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cairn::testing;
  const std::string_view log(reinterpret_cast<const char*>(data), size);
  if (log.starts_with(events_header)) {
    import_all_events(log);
  } else if (log.starts_with(two_thread_header)) {
    must_be_whole(import_two_thread(log));
  } else if (log.starts_with(rmm_header)) {
    for (const bool skips : {false, true}) must_be_whole(import_rmm(log, {skips}));
  } else {
    must_be_whole(import_map(log));
  }
  return 0;
}
