#include "testing/aside.h"

#include <utility>

namespace cairn::testing {

Aside::Aside(std::function<void()> work) : work_(std::move(work)), thread_([this] { run(); }) {}

Aside::~Aside() {
  ends_ = true;
  if (!is_over_) go_on();
  thread_.join();
}

void Aside::run() {
  turn_.acquire();
  try {
    if (!ends_) work_();
  } catch (const Ended&) {
  }
  is_over_ = true;
  back_.release();
}

void Aside::go_on() {
  turn_.release();
  back_.acquire();
}

void Aside::pause() {
  back_.release();
  turn_.acquire();
  if (ends_) throw Ended{};
}

}  // namespace cairn::testing
