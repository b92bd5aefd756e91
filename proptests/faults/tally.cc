#include "tally.h"

#include <dlfcn.h>

#include <string_view>

#include "invariants/catalogue/probes.h"
#include "testing/documented_errors.h"

namespace cairn::faults {
namespace {

using Number = unsigned long long;

// Where in the file of the program, or 0.
std::uintptr_t place_in_file(const void* site) {
  Dl_info info{};
  if (dladdr(site, &info) == 0) return 0;
  return reinterpret_cast<std::uintptr_t>(site) - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
}

std::string words_of(const ErrorInMode& error) {
  return std::string(cairn::to_string(error.error)) + "\t" + std::string(to_string(error.mode));
}

std::string_view words_of(testing::ErrorSource source) {
  switch (source) {
    case testing::ErrorSource::own:
      return "own";
    case testing::ErrorSource::driver:
      return "driver";
    case testing::ErrorSource::context:
      return "context";
    case testing::ErrorSource::earlier_work:
      return "earlier work";
  }
  return "";
}

}  // namespace

void Tally::count(const WatchedCall& call, const ErrorInMode& error, bool has_come) {
  Count& count = by_error[{call.call, error}];
  ++count.planned;
  if (!has_come) return;
  ++count.came;
  ++by_site[{place_in_file(call.site), call.call, error}];
}

void Tally::write(std::FILE* file) const {
  for (const DriverCall call : testing::calls_of_a_driver()) {
    for (const auto& error : testing::documented_errors(call))
      std::fprintf(file, "documented\t%s\t%s\t%s\n", cairn::to_string(call).data(),
                   cairn::to_string(error.status).data(), words_of(error.source).data());
    for (const ErrorInMode& error : errors_of(call))
      std::fprintf(file, "wanted\t%s\t%s\n", cairn::to_string(call).data(),
                   words_of(error).c_str());
  }
  for (const auto& [key, count] : by_error)
    std::fprintf(file, "error\t%s\t%s\t%llu\t%llu\n",
                 cairn::to_string(std::get<DriverCall>(key)).data(),
                 words_of(std::get<ErrorInMode>(key)).c_str(), static_cast<Number>(count.planned),
                 static_cast<Number>(count.came));
  for (const auto& [key, count] : by_site)
    std::fprintf(file, "site\t%#llx\t%s\t%s\t%llu\n",
                 static_cast<Number>(std::get<std::uintptr_t>(key)),
                 cairn::to_string(std::get<DriverCall>(key)).data(),
                 words_of(std::get<ErrorInMode>(key)).c_str(), static_cast<Number>(count));
  for (const auto& [name, of] : by_scenario)
    std::fprintf(file, "scenario\t%s\t%llu\t%llu\t%llu\t%llu\n", name.c_str(),
                 static_cast<Number>(of.calls), static_cast<Number>(of.calls_of_ending),
                 static_cast<Number>(of.single_faults), static_cast<Number>(of.pairs));
  for (std::size_t i = 0; i < invariants::probes.size(); ++i)
    std::fprintf(file, "probe\t%s\t%llu\n", invariants::probes[i].data(),
                 static_cast<Number>(invariants::probe_counts[i].load()));
  std::fprintf(file, "pairs\t%llu\t%llu\nplays\t%llu\n", static_cast<Number>(pairs.planned),
               static_cast<Number>(pairs.came), static_cast<Number>(plays));
}

}  // namespace cairn::faults
