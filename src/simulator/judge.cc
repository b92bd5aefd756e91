#include "simulator/judge.h"

#include <algorithm>
#include <utility>

#include "base/in_words.h"

namespace cairn::simulator {
namespace {

constexpr const char* untold =
    ", of which the allocator was not told, and which the range's own stream did not wait for";

std::string deed(bool is_read_only) { return is_read_only ? "reads" : "writes"; }

}  // namespace

void Judge::report(ViolationKind kind, DeviceIndex device, std::string message) {
  violations_.push_back({kind, device, std::move(message)});
}

void Judge::hand_out(DeviceIndex device, Span range, StreamNumber owner) {
  const Allocation* home = memory_.containing(range.begin);
  if (home == nullptr || home->device != device || !home->span.contains(range)) {
    report(ViolationKind::not_out, device,
           "handed out " + in_words(range) + on_device(device) + ", which does not lie in " +
               (home == nullptr ? "any memory that the driver has out"
                                : "the " + in_words(home->span) + on_device(home->device)));
  }
  if (const Ownership* other = held(device).overlapping(range)) {
    report(ViolationKind::overlap, device,
           "handed out " + in_words(range) + on_device(device) + ", which overlaps the " +
               in_words(other->range) + " that the program holds");
  }
  held(device).add({range, ++ownerships_, owner, streams_.end_of(owner).before});
}

void Judge::take_back(DeviceIndex device, Span range, const std::vector<StreamNumber>& recorded) {
  const auto ownership = held(device).remove(range);
  if (!ownership) {
    report(
        ViolationKind::not_held, device,
        "took back " + in_words(range) + on_device(device) + ", which the program does not hold");
    return;
  }
  const Clock end = streams_.end_of(ownership->owner).before;
  accesses_.for_each(range, [&](Access& access) {
    if (access.ownership != ownership->number) return;
    access.is_untold = end.of(access.stream) < access.kernel &&
                       std::count(recorded.begin(), recorded.end(), access.stream) == 0;
  });
}

void Judge::on_free(const Allocation& allocation, Ticks now) {
  if (const Ownership* owned = held(allocation.device).overlapping(allocation.span)) {
    report(ViolationKind::freed_while_held, allocation.device,
           "gave the driver back " + in_words(allocation.span) + on_device(allocation.device) +
               ", where the program holds " + in_words(owned->range));
  }
  if (const Access* access = accesses_.running(allocation.span, now)) {
    const std::string what = in_words(allocation.span) + on_device(allocation.device) +
                             " went back to the driver while a kernel on " +
                             streams_.describe(access->stream) + " still uses some of it";
    if (access->is_untold) {
      on_mistake(what + untold);
    } else {
      report(ViolationKind::freed_while_in_use, allocation.device, what);
    }
  }
  accesses_.forget(allocation.span);
}

void Judge::on_reset(const Allocation& allocation) {
  LiveRanges& ranges = held(allocation.device);
  while (const Ownership* owned = ranges.overlapping(allocation.span)) ranges.remove(owned->range);
  accesses_.forget(allocation.span);
}

void Judge::on_dead_handle(DeviceIndex device, std::string message) {
  report(ViolationKind::dead_handle, device, std::move(message));
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

bool Judge::comes_after_start(const Kernel& kernel, const Ownership& ownership) const {
  if (ownership.owner == StreamNumber::none) return false;
  const auto& start = ownership.start.entries();
  return std::all_of(start.begin(), start.end(), [&](const Clock::Entry& entry) {
    return kernel.before.of(entry.stream) >= entry.kernel ||
           host_.has_seen(entry.stream, entry.kernel);
  });
}

void Judge::use(const Kernel& kernel, const Touch& touch) {
  const Allocation* home = memory_.containing(touch.range.begin);
  if (home == nullptr || !home->span.contains(touch.range)) {
    report(ViolationKind::used_while_not_out, touch.device,
           "a kernel on " + streams_.describe(kernel.stream) + ' ' + deed(touch.read_only) + ' ' +
               in_words(touch.range) + on_device(touch.device) +
               ", which does not lie in any memory that the driver has out");
  }
  const Ownership* const held_there = held(touch.device).containing(touch.range);
  const Ownership ownership = held_there == nullptr ? Ownership{} : *held_there;
  Access access;
  access.stream = kernel.stream;
  access.kernel = kernel.number;
  access.done_at = kernel.done_at;
  access.ownership = ownership.number;
  access.is_read_only = touch.read_only;
  for (const Access& earlier : accesses_.add(touch.range, access, kernel.before)) {
    const std::string what =
        "a kernel on " + streams_.describe(kernel.stream) + ' ' + deed(touch.read_only) + ' ' +
        in_words(touch.range) + on_device(touch.device) + ", unordered with an earlier one on " +
        streams_.describe(earlier.stream) + " that " + deed(earlier.is_read_only) + " some of it";
    if (!comes_after_start(kernel, ownership)) {
      on_mistake(what + "; it does not wait for the work that stood on the range's own stream, " +
                 streams_.describe(ownership.owner) + ", when that was allocated");
    } else if (earlier.is_untold) {
      on_mistake(what + untold);
    } else {
      report(ViolationKind::unordered_reuse, touch.device,
             what + ", before the range was handed out again");
    }
  }
}

void Judge::on_kernel(const Kernel& kernel, const std::vector<Touch>& touches) {
  for (const Touch& touch : touches) use(kernel, touch);
}

std::unordered_set<StreamNumber> Judge::owners() const {
  std::unordered_set<StreamNumber> owners;
  for (const LiveRanges& ranges : held_) {
    ranges.for_each([&](const Ownership& ownership) { owners.insert(ownership.owner); });
  }
  return owners;
}

}  // namespace cairn::simulator
