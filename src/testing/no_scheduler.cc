// For programs whose locks are the real ones.
#include "testing/scheduler.h"

namespace cairn::testing {

bool Scheduler::exists() { return false; }
Scheduler::Outcome Scheduler::run(const Bodies&, const Watch&) { return {}; }
void Scheduler::before_driver_call() {}
void Scheduler::before_foreign_code(const char*) {}
const void* Scheduler::last_locked() { return nullptr; }
Scheduler::Unseen::Unseen() = default;
Scheduler::Unseen::~Unseen() = default;
Scheduler::Seen::Seen() = default;
Scheduler::Seen::~Seen() = default;

}  // namespace cairn::testing
