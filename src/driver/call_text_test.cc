// A call in one line: nothing of it is lost, and nothing stands there that it does not have.
#include "driver/call_text.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(CallText, SaysWhatWentInAndWhatCameOut) {
  EXPECT_EQ(text_of({.call = DriverCall::malloc,
                     .device = 1,
                     .size = Bytes{2097152},
                     .address = Address{0x100000000000}}),
            "malloc device=1 size=2097152 address=0x100000000000");
  EXPECT_EQ(text_of({.call = DriverCall::free, .address = Address{0x200}}),
            "free device=0 address=0x200");
  EXPECT_EQ(text_of({.call = DriverCall::mem_info, .memory = {Bytes{3}, Bytes{9}}}),
            "mem_info device=0 free=3 total=9");
  EXPECT_EQ(text_of({.call = DriverCall::event_create,
                     .event = EventHandle{0x61},
                     .context = ContextHandle{0x71}}),
            "event_create device=0 event=0x61 context=0x71");
  EXPECT_EQ(text_of({.call = DriverCall::stream_id, .stream = 0x5, .stream_id = 0x81}),
            "stream_id device=0 stream=0x5 id=0x81");
}

TEST(CallText, TheDefaultStreamIsAStreamToo) {
  EXPECT_EQ(text_of({.call = DriverCall::event_record, .event = EventHandle{0x61}}),
            "event_record device=0 stream=0x0 event=0x61");
  EXPECT_EQ(text_of({.call = DriverCall::stream_sync}), "stream_sync device=0 stream=0x0");
  EXPECT_EQ(text_of({.call = DriverCall::device_sync, .device = 2}), "device_sync device=2");
}

TEST(CallText, AQuerySaysItsAnswer) {
  RecordedCall call{.call = DriverCall::event_query, .event = EventHandle{0x61}};
  EXPECT_EQ(text_of(call), "event_query device=0 event=0x61 runs");
  call.is_done = true;
  EXPECT_EQ(text_of(call), "event_query device=0 event=0x61 done");
}

TEST(CallText, AFailureGivesItsErrorAndNothingElse) {
  EXPECT_EQ(
      text_of(
          {.call = DriverCall::malloc, .size = Bytes{512}, .status = CudaStatus::out_of_memory}),
      "malloc device=0 size=512 error=out_of_memory");
  EXPECT_EQ(text_of({.call = DriverCall::event_query,
                     .event = EventHandle{0x61},
                     .status = CudaStatus::illegal_address}),
            "event_query device=0 event=0x61 error=illegal_address");
  EXPECT_EQ(text_of({.call = DriverCall::mem_info, .status = CudaStatus::unknown}),
            "mem_info device=0 error=unknown");
}

}  // namespace
}  // namespace cairn
