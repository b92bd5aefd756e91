#include "invariants/catalogue/report.h"

#include "invariants/catalogue/hook.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace cairn::invariants {
namespace {

void print_and_abort(const Violation& violation) {
  std::fprintf(stderr, "cairn: invariant violated: %s\n", to_string(violation).c_str());
  std::abort();
}

Handler& handler() {
  thread_local Handler current = print_and_abort;
  return current;
}

}  // namespace

void report(const Invariant& invariant, std::string what, const char* file, int line) noexcept {
  handler()({invariant, std::move(what), file, line});
}

void report_condition(const Invariant& invariant, const char* condition, const char* file,
                      int line) {
  report(invariant, condition, file, line);
}

Recorder::Recorder()
    : previous_(std::exchange(
          handler(), [this](const Violation& violation) { violations_.push_back(violation); })) {}

Recorder::~Recorder() { handler() = std::move(previous_); }

bool Recorder::has(const char* id) const {
  return std::any_of(violations_.begin(), violations_.end(), [id](const Violation& violation) {
    return std::strcmp(violation.invariant.id, id) == 0;
  });
}

std::string to_string(const Violation& violation) {
  return std::string(violation.invariant.id) + " (" + violation.invariant.words + ") " +
         violation.what + " [" + violation.file + ":" + std::to_string(violation.line) + "]";
}

}  // namespace cairn::invariants
