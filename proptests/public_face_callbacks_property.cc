// What callbacks may do: free, allocate, ask for statistics, throw, and remove themselves. Each is
// called as src/cairn/allocator.h says, whatever the others do.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "public_face_commands.h"
#include "small_machine.h"

namespace {

using cairn::CallbackId;
using cairn::DeviceStats;
using cairn::Error;
using cairn::ErrorCode;
using cairn::MemoryReport;
using cairn::proptests::draw;
using cairn::proptests::SmallMachine;

constexpr std::size_t mib = std::size_t{1} << 20;

enum class Habit { nothing, frees, allocates, throws, throws_a_number, removes_itself, fails };
constexpr int habits = 7;

// A program under pressure, whose callbacks have habits.
class Story {
 public:
  Story() {
    const auto own = static_cast<std::uint32_t>(getpid());
    machine_.strange.users = {{own, cairn::Bytes{7 * mib}}, {own + 1, cairn::Bytes{5 * mib}}};
  }

  void request() { request(draw<std::size_t>(1, 25 * mib), draw<std::size_t>(0, 3)); }

  void add_callback() {
    const auto habit = static_cast<Habit>(draw(0, habits));
    const auto id = std::make_shared<CallbackId>();
    *id = machine_.allocator->add_free_memory_callback([this, id, habit](int device) {
      expect(device == 0, "device == 0");
      called_.push_back(*id);
      if (is_in_callback_) return complain("a callback is called inside of one");
      const Inside inside(is_in_callback_);
      return behave(habit, *id, callbacks_);
    });
    callbacks_.push_back(*id);
  }

  void add_observer() {
    const auto habit = static_cast<Habit>(draw(0, habits));
    const auto id = std::make_shared<CallbackId>();
    *id = machine_.allocator->add_out_of_memory_observer([this, id, habit](const Error& error) {
      expect(error.code == ErrorCode::out_of_memory, "error.code == ErrorCode::out_of_memory");
      if (told_.empty()) to_be_told_ = observers_;
      told_.push_back(*id);
      if (is_in_observer_) return static_cast<void>(complain("an observer is told inside of one"));
      const Inside inside(is_in_observer_);
      behave(habit, *id, observers_);
    });
    observers_.push_back(*id);
  }

  void remove() {
    auto& list = draw(0, 2) == 0 ? callbacks_ : observers_;
    if (!list.empty()) take_out(list, list[draw<std::size_t>(0, list.size())]);
    machine_.allocator->remove_callback(CallbackId{1000});  // Nobody.
  }

  void free() {
    if (!machine_.held.empty()) machine_.free(draw<std::size_t>(0, 100));
  }

  void check() const {
    if (!wrong_.empty()) RC_FAIL(wrong_);
    machine_.check();
  }
  void end() { machine_.wind_down(); }

 private:
  // Not by RC_ASSERT, since what callbacks throw is dropped.
  void expect(bool holds, const char* what) {
    if (!holds && wrong_.empty()) wrong_ = what;
  }

  bool complain(const char* what) {
    expect(false, what);
    return false;
  }

  class Inside {
   public:
    explicit Inside(bool& is_inside) : is_inside_(is_inside) { is_inside_ = true; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { is_inside_ = false; }

   private:
    bool& is_inside_;
  };

  // By the program, or by a callback.
  void request(std::size_t size, std::size_t stream) {
    const auto called_before = std::exchange(called_, {});
    const auto told_before = std::exchange(told_, {});
    const auto none = std::vector<CallbackId>{};
    const auto callbacks = is_in_callback_ ? none : callbacks_;
    const std::int64_t grants = stats().num_device_alloc;
    Error why;
    const bool served = machine_.allocate(size, stream, &why) != nullptr;
    // A request that the driver was asked for found nothing cached, so that all were called.
    if (!served || stats().num_device_alloc > grants)
      expect(called_ == callbacks, "called_ == callbacks");
    expect(called_.empty() || called_ == callbacks, "called_.empty() || called_ == callbacks");
    if (served || is_in_observer_) {
      expect(told_.empty(), "told_.empty()");
    } else {
      expect(told_ == (told_.empty() ? observers_ : to_be_told_),
             "told_ == (told_.empty() ? observers_ : to_be_told_)");
    }
    if (!served) check(why, size);
    called_ = called_before;
    told_ = told_before;
  }

  DeviceStats stats() const { return machine_.allocator->stats(0); }

  void take_out(std::vector<CallbackId>& list, CallbackId id) {
    machine_.allocator->remove_callback(id);
    std::erase(list, id);
  }

  bool behave(Habit habit, CallbackId self, std::vector<CallbackId>& list) {
    static_cast<void>(stats());  // No lock is held.
    switch (habit) {
      case Habit::nothing:
        return false;
      case Habit::frees:
        if (machine_.held.empty()) return false;
        machine_.free(0);
        return true;
      case Habit::allocates:
        request(600, 0);
        return false;
      case Habit::throws:
        throw std::runtime_error("a habit");
      case Habit::throws_a_number:
        throw 7;  // NOLINT(hicpp-exception-baseclass): as anything may be thrown.
      case Habit::removes_itself:
        take_out(list, self);
        return false;
      case Habit::fails:
        request(200 * mib, 0);
        return true;
    }
    return false;
  }

  // The quantities are those of a machine that has not changed since, but by observers.
  void check(const Error& why, std::size_t size) {
    expect(why.code == ErrorCode::out_of_memory, "why.code == ErrorCode::out_of_memory");
    expect(why.cuda_code == 2, "why.cuda_code == 2");
    expect(why.memory != nullptr, "why.memory != nullptr");
    if (why.memory == nullptr) return;
    const MemoryReport& report = *why.memory;
    expect(report.requested_bytes == size, "report.requested_bytes == size");
    expect(report.tried_bytes >= size, "report.tried_bytes >= size");
    expect(report.total_bytes == 64 * mib, "report.total_bytes == 64 * mib");
    expect(report.free_bytes < report.tried_bytes, "report.free_bytes < report.tried_bytes");
    expect(report.reserved_bytes() == 64 * mib - *report.free_bytes,
           "report.reserved_bytes() == 64 * mib - *report.free_bytes");
    expect(report.processes.size() == 2u, "report.processes.size() == 2u");
    const bool names_all = why.message.find("this process has 7.00 MiB") != std::string::npos &&
                           why.message.find(" has 5.00 MiB in use") != std::string::npos;
    expect(names_all, "names_all");
  }

  SmallMachine machine_{{}, 64};
  std::vector<CallbackId> callbacks_;
  std::vector<CallbackId> observers_;
  // During the request that is under way.
  std::vector<CallbackId> called_;
  std::vector<CallbackId> told_;
  std::vector<CallbackId> to_be_told_;  // Who was an observer when the first of them was told.
  std::string wrong_;                   // The first that did not hold.
  bool is_in_callback_ = false;
  bool is_in_observer_ = false;
};

RC_GTEST_PROP(PublicFaceCallbacks, MayDoWhatACallerMay, ()) {
  Story story;
  const int steps = draw(10, 60);
  for (int step = 0; step < steps; ++step) {
    switch (draw(0, 8)) {
      case 0:
        story.add_callback();
        break;
      case 1:
        story.add_observer();
        break;
      case 2:
        story.remove();
        break;
      case 3:
        story.free();
        break;
      default:
        story.request();
    }
    story.check();
  }
  story.end();
}

}  // namespace
