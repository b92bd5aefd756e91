#include "simulator/judge.h"

#include <utility>

#include "base/in_words.h"

namespace cairn::simulator {

void Judge::report(ViolationKind kind, DeviceIndex device, std::string message) {
  violations_.push_back({kind, device, std::move(message)});
}

void Judge::hand_out(DeviceIndex device, Span range) {
  const Allocation* home = memory_.containing(range.begin);
  if (home == nullptr || home->device != device || !home->span.contains(range)) {
    report(ViolationKind::not_out, device,
           "handed out " + in_words(range) + on_device(device) + ", which does not lie in " +
               (home == nullptr ? "any memory that the driver has out"
                                : "the " + in_words(home->span) + on_device(home->device)));
  }
  if (const auto other = held(device).overlapping(range)) {
    report(ViolationKind::overlap, device,
           "handed out " + in_words(range) + on_device(device) + ", which overlaps the " +
               in_words(*other) + " that the program holds");
  }
  held(device).add(range);
}

void Judge::take_back(DeviceIndex device, Span range) {
  if (held(device).remove(range)) return;
  report(ViolationKind::not_held, device,
         "took back " + in_words(range) + on_device(device) + ", which the program does not hold");
}

void Judge::on_free(const Allocation& allocation) {
  const auto range = held(allocation.device).overlapping(allocation.span);
  if (!range) return;
  report(ViolationKind::freed_while_held, allocation.device,
         "gave the driver back " + in_words(allocation.span) + on_device(allocation.device) +
             ", where the program holds " + in_words(*range));
}

void Judge::on_bad_free(DeviceIndex device, Address address) {
  std::string message = "free of " + in_words(address) + on_device(device);
  if (const Allocation* home = memory_.containing(address)) {
    message += ", which is in the " + in_words(home->span) + on_device(home->device);
  } else if (memory_.was_given_back(address)) {
    message += ", which was given back before";
  } else {
    message += ", which was never given out";
  }
  report(ViolationKind::bad_free, device, std::move(message));
}

}  // namespace cairn::simulator
