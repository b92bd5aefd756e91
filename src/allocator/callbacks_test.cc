// What applications have called when memory is short: when, in what order, and what it may do.
#include "allocator/callbacks.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "allocator/device_in_test.h"
#include "cairn/allocator.h"

namespace cairn {
namespace {

constexpr std::size_t mib = 1 << 20;

class CallbacksTest : public testing::Test {
 protected:
  // Lets the next request find no memory.
  void let_run_out() { driver_.answer(DriverCall::malloc, {oom, oom}); }
  Error error_of_running_out(std::size_t size = 30 * mib) {
    let_run_out();
    Error why;
    EXPECT_EQ(allocator_.try_allocate({size}, &why), nullptr);
    return why;
  }
  CallbackId on_short_memory(std::function<bool(int)> callback) {
    return allocator_.add_free_memory_callback(std::move(callback));
  }
  CallbackId on_failure(std::function<void(const Error&)> observer) {
    return allocator_.add_out_of_memory_observer(std::move(observer));
  }

  ScriptedDriver driver_{2};
  Allocator allocator_{driver_};
  Calls order_;
};

// --- free-memory callbacks ---

TEST_F(CallbacksTest, AHitAsksNobody) {
  void* p = allocator_.allocate({1000});
  allocator_.free(p);
  on_short_memory([&](int) {
    order_.push_back("asked");
    return true;
  });
  EXPECT_EQ(allocator_.allocate({1000}), p);
  EXPECT_EQ(order_, Calls{});
}

TEST_F(CallbacksTest, NoneHasTheIdZero) {
  EXPECT_NE(on_short_memory([](int) { return false; }), CallbackId{});
  EXPECT_NE(on_failure([](const Error&) {}), CallbackId{});
}

TEST_F(CallbacksTest, AMissAsksAllInOrderBeforeTheDriver) {
  on_short_memory([&](int device) {
    order_.push_back("first " + std::to_string(device));
    EXPECT_EQ(driver_.calls(), Calls{});
    return true;
  });
  on_short_memory([&](int device) {
    order_.push_back("second " + std::to_string(device));
    return false;
  });
  allocator_.allocate({1000, 1});
  EXPECT_EQ(order_, (Calls{"first 1", "second 1"}));
  EXPECT_EQ(driver_.calls(), Calls{"malloc 1 2MiB"});
}

TEST_F(CallbacksTest, WhatOneFreesServesTheRequest) {
  void* held = allocator_.allocate({30 * mib});
  driver_.calls();
  on_short_memory([&](int) { return allocator_.try_free(held); });
  on_short_memory([](int) { return false; });
  EXPECT_EQ(allocator_.allocate({30 * mib}), held);
  EXPECT_EQ(driver_.calls(), Calls{});
}

TEST_F(CallbacksTest, WithoutWordOfItNothingIsSearched) {
  void* p = allocator_.allocate({mib});
  void* q = allocator_.allocate({mib});
  driver_.calls();
  on_short_memory([&](int) {
    allocator_.free(std::exchange(p, nullptr));
    return false;
  });
  EXPECT_NE(allocator_.allocate({mib}), nullptr);
  EXPECT_EQ(driver_.calls(), Calls{"malloc 0 2MiB"});
  allocator_.free(q);
}

TEST_F(CallbacksTest, ItMayCallTheAllocatorOfItsOwnDevice) {
  int asked = 0;
  on_short_memory([&](int device) {
    ++asked;
    EXPECT_EQ(allocator_.stats(device).allocation.all.current, 0);
    void* p = allocator_.allocate({mib});  // Asks no callback, since it is in one.
    allocator_.record_stream(p, reinterpret_cast<Stream>(0x51));
    allocator_.free(p);
    allocator_.process_events(device);
    allocator_.empty_cache();
    allocator_.set_memory_fraction(device, 0.5);
    allocator_.reconfigure("max_split_size_mb:32");
    allocator_.forget_stream(device, reinterpret_cast<Stream>(0x51));
    return true;
  });
  EXPECT_NE(allocator_.allocate({30 * mib}), nullptr);
  EXPECT_EQ(asked, 1);
}

TEST_F(CallbacksTest, OneThatThrowsHasFreedNothingAndIsTold) {
  on_short_memory([](int) -> bool { throw std::runtime_error("no cache to drop"); });
  on_short_memory([](int) -> bool { throw 7; });
  on_short_memory([&](int) {
    order_.push_back("third");
    return false;
  });
  EXPECT_NE(allocator_.allocate({1000}), nullptr);
  const Error why = error_of_running_out();
  EXPECT_NE(why.message.find("A free-memory callback threw: no cache to drop."), std::string::npos)
      << why.message;
  EXPECT_NE(why.message.find("threw something"), std::string::npos) << why.message;
  EXPECT_EQ(order_.size(), 2u);
  EXPECT_NE(allocator_.allocate({40 * mib}), nullptr);
  EXPECT_EQ(order_.size(), 3u);  // The thread is not taken to be in a callback still.
}

TEST_F(CallbacksTest, OneMayRemoveItself) {
  CallbackId id{};
  id = on_short_memory([&](int) {
    allocator_.remove_callback(id);
    order_.push_back("once");
    return false;
  });
  on_short_memory([&](int) {
    order_.push_back("always");
    return false;
  });
  allocator_.allocate({30 * mib});
  allocator_.allocate({30 * mib});
  EXPECT_EQ(order_, (Calls{"once", "always", "always"}));
}

TEST_F(CallbacksTest, ARemovedOneIsAskedNoMore) {
  const CallbackId first = on_short_memory([&](int) -> bool { throw std::logic_error("asked"); });
  const CallbackId second = on_failure([&](const Error&) { order_.push_back("told"); });
  EXPECT_NE(first, second);
  allocator_.remove_callback(first);
  allocator_.remove_callback(second);
  allocator_.remove_callback(second);
  allocator_.remove_callback(CallbackId{1000});
  EXPECT_EQ(error_of_running_out().message.find("threw"), std::string::npos);
  EXPECT_EQ(order_, Calls{});
}

// What a callback holds is destroyed without a lock, since that may call the allocator too.
TEST_F(CallbacksTest, WhatOneHeldMayCallTheAllocatorAtItsEnd) {
  std::shared_ptr<void> token(nullptr, [&](void*) {
    order_.push_back("gone");
    allocator_.remove_callback(CallbackId{1000});
    allocator_.allocate({1000});
  });
  const CallbackId id = on_short_memory([held = token](int) { return held != nullptr; });
  token.reset();
  EXPECT_EQ(order_, Calls{});
  allocator_.remove_callback(id);
  EXPECT_EQ(order_, Calls{"gone"});
}

// --- observers ---

TEST_F(CallbacksTest, ObserversAreToldOfAFailureOnceWithItsNumbers) {
  on_failure([&](const Error& error) {
    order_.push_back("first");
    EXPECT_EQ(error.code, ErrorCode::out_of_memory);
    ASSERT_NE(error.memory, nullptr);
    EXPECT_EQ(error.memory->tried_bytes, 30 * mib);
    EXPECT_EQ(driver_.calls().back(), "mem_info 0");
  });
  on_failure([&](const Error&) { order_.push_back("second"); });
  const Error why = error_of_running_out();
  EXPECT_EQ(order_, (Calls{"first", "second"}));
  EXPECT_NE(why.memory, nullptr);
  EXPECT_EQ(allocator_.stats(0).num_ooms, 1);
}

TEST_F(CallbacksTest, OfOtherFailuresTheyAreNot) {
  on_failure([&](const Error&) { order_.push_back("told"); });
  driver_.answer(DriverCall::malloc, {refused});
  EXPECT_EQ(allocator_.try_allocate({1000}), nullptr);
  EXPECT_EQ(allocator_.try_allocate({1000, 7}), nullptr);
  EXPECT_EQ(allocator_.try_allocate({std::size_t{1} << 60}), nullptr);
  EXPECT_EQ(order_, Calls{});
}

TEST_F(CallbacksTest, OfARejectionTheyAre) {
  Allocator allocator = Allocator::from_settings(
      driver_, "throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.5");
  allocator.set_memory_fraction(0, 1.0);
  allocator.add_out_of_memory_observer([&](const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::rejected);
    order_.push_back("told");
  });
  EXPECT_EQ(allocator.try_allocate({std::size_t{50} << 30}), nullptr);
  EXPECT_EQ(order_, Calls{"told"});
}

TEST_F(CallbacksTest, AnObserverMayCallTheAllocator) {
  void* held = allocator_.allocate({1000});
  on_failure([&](const Error&) {
    EXPECT_EQ(allocator_.stats(0).num_ooms, 1);
    allocator_.free(std::exchange(held, nullptr));
    held = allocator_.allocate({2000});
    allocator_.empty_cache();
  });
  error_of_running_out();
  EXPECT_NE(held, nullptr);
}

// It would be told of that without end.
TEST_F(CallbacksTest, AnObserverIsNotToldOfItsOwnFailures) {
  on_failure([&](const Error&) {
    order_.push_back("told");
    let_run_out();
    EXPECT_EQ(allocator_.try_allocate({40 * mib}), nullptr);
  });
  error_of_running_out();
  EXPECT_EQ(order_, Calls{"told"});
  error_of_running_out();
  EXPECT_EQ(order_, (Calls{"told", "told"}));
}

TEST_F(CallbacksTest, WhatAnObserverThrowsIsInTheMessage) {
  on_failure([](const Error&) { throw std::runtime_error("disk full"); });
  on_failure([&](const Error& error) {
    EXPECT_EQ(error.message.find("disk full"), std::string::npos);
    order_.push_back("told");
  });
  const Error why = error_of_running_out();
  EXPECT_NE(why.message.find("An out-of-memory observer threw: disk full."), std::string::npos)
      << why.message;
  EXPECT_EQ(order_, Calls{"told"});
  try {
    let_run_out();
    allocator_.allocate({40 * mib});
    ADD_FAILURE();
  } catch (const OutOfMemory& error) {
    EXPECT_NE(std::string(error.what()).find("disk full"), std::string::npos);
  }
}

// A callback that allocates and fails: observers are told of that, and then of the request.
TEST_F(CallbacksTest, AFailureInACallbackIsToldToo) {
  on_short_memory([&](int) {
    let_run_out();
    return allocator_.try_allocate({50 * mib}) != nullptr;
  });
  on_failure([&](const Error& error) {
    order_.push_back(std::to_string(error.memory->requested_bytes / mib));
  });
  let_run_out();
  EXPECT_NE(allocator_.try_allocate({30 * mib}), nullptr);
  EXPECT_EQ(order_, Calls{"50"});
}

}  // namespace
}  // namespace cairn
