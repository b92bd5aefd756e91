// What driver.h promises, as tests for any Driver: the suite runs on each DriverUnderTest that a
// program instantiates it with.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>

#include "driver/driver.h"

namespace cairn {

// For messages of failed tests.
inline std::ostream& operator<<(std::ostream& out, CudaStatus status) {
  return out << to_string(status);
}

}  // namespace cairn

namespace cairn::conformance {

// Whether a stream and the legacy default stream wait for each other's work.
enum class StreamKind { blocking, non_blocking };

// A driver, and beside it the application whose streams it is told of. Whatever it cannot do is a
// fault of the test, and ends the process.
class DriverUnderTest {
 public:
  virtual ~DriverUnderTest() = default;

  virtual Driver& driver() = 0;

  // Of the device's primary context, or of another (never 0).
  virtual StreamRef make_stream(DeviceIndex device, StreamKind kind) = 0;
  virtual StreamRef make_stream_in(DeviceIndex device, ContextHandle context) = 0;
  virtual void destroy_stream(StreamRef stream) = 0;
  // A further context of the device, which is not made current.
  virtual ContextHandle make_context(DeviceIndex device) = 0;

  // Puts work on the stream that does not end before let_go(), or the end of the test. No memory is
  // allocated or freed, and no stream made, while any stream is held. Streams are let go in the
  // order in which they were held. The work may end some time after let_go().
  virtual void hold(StreamRef stream) = 0;
  virtual void let_go(StreamRef stream) = 0;

  // The calling thread's current context; 0 where it has none, or the driver knows of no such
  // thing.
  virtual std::uint64_t current_context() = 0;
  // Makes that context current, 0 for none.
  virtual void set_current_context(DeviceIndex device, std::uint64_t context) = 0;

  // Whether the driver answers invalid_handle to a handle that was destroyed, or never was. CUDA
  // leaves that undefined.
  virtual bool knows_dead_handles() const = 0;
};

// What a call failed with; success if it did not.
template <class T>
CudaStatus status_of(const DriverResult<T>& result) {
  return result ? CudaStatus::success : result.error();
}

struct MakeDriverUnderTest {
  std::string name;
  // Null where this machine has no such driver. Throws where it has one that fails.
  std::unique_ptr<DriverUnderTest> (*make)();
};

// For messages of failed tests.
inline std::ostream& operator<<(std::ostream& out, const MakeDriverUnderTest& made) {
  return out << made.name;
}

class DriverConformance : public testing::TestWithParam<MakeDriverUnderTest> {
 protected:
  void SetUp() override {
    under_test_ = GetParam().make();
    if (under_test_ == nullptr) GTEST_SKIP() << "there is no such driver here";
  }
  // For tests that need a second device.
  bool has_two_devices() { return driver().device_count() > 1; }

  DriverUnderTest& application() { return *under_test_; }
  Driver& driver() { return under_test_->driver(); }

  StreamRef make_stream(StreamKind kind = StreamKind::non_blocking) {
    return application().make_stream(0, kind);
  }
  // An event of device 0; 0 if that fails, which fails the test.
  EventHandle make_event(ContextHandle context = {}) {
    return value(driver().event_create(0, context));
  }
  // A new event of device 0 that stands for what is on the stream now.
  EventHandle record(StreamRef stream) {
    const EventHandle event = make_event();
    EXPECT_TRUE(driver().event_record(stream, event));
    return event;
  }
  bool is_done(EventHandle event) { return value(driver().event_query(0, event)); }
  // What a call gave; an empty value if it failed, which fails the test.
  template <class T>
  static T value(const DriverResult<T>& result) {
    EXPECT_EQ(status_of(result), CudaStatus::success);
    return result ? *result : T{};
  }

 private:
  std::unique_ptr<DriverUnderTest> under_test_;
};

// The name of a case in the names of its tests.
inline std::string name_of(const testing::TestParamInfo<MakeDriverUnderTest>& info) {
  return info.param.name;
}

}  // namespace cairn::conformance
