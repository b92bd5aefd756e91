// One run of a scenario, with faults or without: what World checks, and beyond it what is promised
// of a driver that fails. Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "driver/driver.h"
#include "testing/program.h"
#include "testing/world.h"
#include "watch.h"

namespace cairn::faults {

// What follows on the last statement.
enum class Ending {
  // Nothing fails any more. On devices that are not lost memory is allocated and freed; all is
  // given back, with nothing left; and it is allocated, freed and given back once more.
  recovery,
  // What is live is freed, and the allocator destroyed, while the driver may still fail.
  destruction,
};

// What is done wrong on purpose, to see that it is found; null members: nothing.
struct Plant {
  std::function<std::unique_ptr<Driver>(Driver& below, Watched& watched)> watch;
  std::function<void(AllDevices& allocator)> meddle;
};

struct Examined {
  testing::StepResult result;     // A finding, or ok.
  testing::Program as_it_went;    // The statements that made sense, without expectations.
  Watched watched;                // Up to the end of the allocator, or to the finding.
  std::size_t calls_of_ending{};  // From this place of `watched.calls` on.
};

Examined examine(const testing::Program& program, Ending ending, const Plant& plant = {});

// A Program that finds something, made short: without its faults it still finds nothing.
testing::Program shortest(const testing::Program& program, Ending ending, const Plant& plant = {});

// The program without what it expects, which faults may change.
testing::Program without_expectations(const testing::Program& program);

}  // namespace cairn::faults
