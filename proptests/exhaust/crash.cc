#include "crash.h"

#include <csignal>
#include <utility>

namespace cairn::exhaust {
namespace {

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

std::function<void()>& wanted() {
  static std::function<void()> act;
  return act;
}

void set_all(void (*handler)(int)) {
  for (const int signal : signals) static_cast<void>(std::signal(signal, handler));
}

void crashed(int signal) {
  set_all(SIG_DFL);
  wanted()();
  static_cast<void>(std::raise(signal));
}

}  // namespace

OnCrash::OnCrash(std::function<void()> act) {
  wanted() = std::move(act);
  if (wanted()) set_all(crashed);
}

OnCrash::~OnCrash() {
  if (wanted()) set_all(SIG_DFL);
  wanted() = nullptr;
}

}  // namespace cairn::exhaust
