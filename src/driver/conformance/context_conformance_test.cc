// The calling thread's current context is as it was after every call, whether it succeeds or fails,
// and matters to none.
#include <functional>
#include <map>
#include <thread>

#include "driver/conformance/conformance.h"

namespace cairn::conformance {
namespace {

using namespace literals;

struct Things {
  StreamRef stream;
  EventHandle event;
  Address memory;
};

// Every call, each with whether it succeeds.
std::map<std::string, std::function<bool(Driver&, const Things&)>> all_calls() {
  const StreamRef legacy{0, legacy_stream_handle};
  const StreamRef per_thread{0, per_thread_stream_handle};
  return {
      {"malloc and free",
       [](Driver& driver, const Things&) {
         const auto address = driver.malloc(0, 2_MiB);
         return address && driver.free(0, *address);
       }},
      {"malloc of too much",
       [](Driver& driver, const Things&) {
         return driver.malloc(0, driver.total_memory(0) * 2).failed();
       }},
      {"free of a stranger",
       [](Driver& driver, const Things& things) {
         return driver.free(0, things.memory + 512_B).failed();
       }},
      {"mem_info", [](Driver& driver, const Things&) { return bool{driver.mem_info(0)}; }},
      {"event_create and event_destroy",
       [](Driver& driver, const Things&) {
         const auto event = driver.event_create(0, {});
         return event && driver.event_destroy(0, *event);
       }},
      {"event_record",
       [=](Driver& driver, const Things& things) {
         return driver.event_record(things.stream, things.event) &&
                driver.event_record(legacy, things.event) &&
                driver.event_record(per_thread, things.event);
       }},
      {"event_query",
       [](Driver& driver, const Things& things) {
         return bool{driver.event_query(0, things.event)};
       }},
      {"event_sync", [](Driver& driver,
                        const Things& things) { return bool{driver.event_sync(0, things.event)}; }},
      {"stream_sync",
       [=](Driver& driver, const Things& things) {
         return driver.stream_sync(things.stream) && driver.stream_sync(legacy) &&
                driver.stream_sync(per_thread);
       }},
      {"device_sync", [](Driver& driver, const Things&) { return bool{driver.device_sync(0)}; }},
      {"ctx_record",
       [](Driver& driver, const Things& things) {
         const CudaStatus status = status_of(driver.ctx_record(0, things.event));
         return status == CudaStatus::success || status == CudaStatus::not_supported;
       }},
      {"stream_ctx",
       [=](Driver& driver, const Things& things) {
         return driver.stream_ctx(things.stream) && driver.stream_ctx(legacy);
       }},
      {"stream_id",
       [=](Driver& driver, const Things& things) {
         return driver.stream_id(things.stream) && driver.stream_id(legacy);
       }},
  };
}

void expect_undisturbed(DriverUnderTest& application, const Things& things) {
  const std::uint64_t before = application.current_context();
  for (const auto& [name, call] : all_calls()) {
    EXPECT_TRUE(call(application.driver(), things)) << name;
    EXPECT_EQ(application.current_context(), before) << name;
  }
}

TEST_P(DriverConformance, CallsNeitherNeedNorChangeTheCurrentContext) {
  const ContextHandle context = application().make_context(0);
  const auto memory = driver().malloc(0, 2_MiB);
  ASSERT_TRUE(memory);
  const Things things{make_stream(), make_event(), *memory};
  // Each thread with its own: none, and one that is not the primary one.
  std::thread without([&] { expect_undisturbed(application(), things); });
  without.join();
  std::thread with_another([&] {
    application().set_current_context(0, context.value);
    expect_undisturbed(application(), things);
    application().set_current_context(0, 0);
  });
  with_another.join();
  EXPECT_TRUE(driver().free(0, *memory));
}

}  // namespace
}  // namespace cairn::conformance
