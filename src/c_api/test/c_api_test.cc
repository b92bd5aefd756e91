// The stories of stories.c over the simulated GPU, and what callers of the C API pass that they
// should not.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "allocator/counting_driver.h"
#include "cairn/allocator.h"
#include "cairn/c_handle.h"
#include "cairn/cairn.h"
#include "simulator/simulated_driver.h"

extern "C" {
#include "c_api/test/stories.h"
}

namespace cairn {
namespace {

using simulator::SimulatedGpu;

StreamRef stream_ref(cairn_stream stream) {
  return {0, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(stream))};
}

void launch(void* gpu, cairn_stream stream, std::uint64_t ticks) {
  EXPECT_TRUE(static_cast<SimulatedGpu*>(gpu)->launch(stream_ref(stream), {}, ticks));
}

void advance(void* gpu, std::uint64_t ticks) { static_cast<SimulatedGpu*>(gpu)->advance(ticks); }

class CApi : public testing::Test {
 protected:
  ~CApi() override { EXPECT_EQ(cairn_allocator_destroy(handle_), CAIRN_OK); }

  void tell(const char* (*story)(const simulated_machine*)) {
    const simulated_machine machine{handle_, make_stream(), make_stream(), &gpu_, launch, advance};
    const char* const broken = story(&machine);
    EXPECT_EQ(broken, nullptr) << broken << "\nlast error: " << cairn_last_error_message();
    EXPECT_EQ(gpu_.violation_count(), 0U);
  }
  cairn_stream make_stream() {
    const std::uint64_t handle = gpu_.make_stream({})->handle;
    return reinterpret_cast<cairn_stream>(static_cast<std::uintptr_t>(handle));
  }
  static void refused(cairn_error error, const std::string& words) {
    EXPECT_EQ(error, CAIRN_INVALID_ARGUMENT) << words;
    EXPECT_NE(std::string(cairn_last_error_message()).find(words), std::string::npos)
        << words << " in: " << cairn_last_error_message();
  }

  SimulatedGpu gpu_{std::vector{simulator::DeviceOptions{Bytes{std::uint64_t{1} << 30}}}};
  simulator::SimulatedDriver driver_{gpu_};
  Allocator allocator_{driver_};
  cairn_allocator* handle_ = make_c_handle(allocator_);
};

TEST_F(CApi, FreedMemoryIsHandedOutAgain) { tell(freed_memory_is_handed_out_again); }
TEST_F(CApi, AStrongerAlignmentIsAskedFor) { tell(a_stronger_alignment_is_asked_for); }
TEST_F(CApi, NoBytesAreNoBlock) { tell(no_bytes_are_no_block); }
TEST_F(CApi, ACheckedFreeComparesSizeAndStream) { tell(a_checked_free_compares_size_and_stream); }
TEST_F(CApi, ARecordedStreamDelaysTheNextUse) { tell(a_recorded_stream_delays_the_next_use); }
TEST_F(CApi, FreeOnWaitsForThatStream) { tell(free_on_waits_for_that_stream); }
TEST_F(CApi, AStreamIsForgottenBeforeItEnds) { tell(a_stream_is_forgotten_before_it_ends); }
TEST_F(CApi, OutOfMemoryHasItsNumbers) { tell(out_of_memory_has_its_numbers); }
TEST(CApiOfASharedDevice, OutOfMemoryTellsWhoseMemoryItIs) {
  CountingDriver driver{Bytes{std::uint64_t{1} << 30}};
  driver.set_processes({{7, Bytes{5U << 20}}, {8, Bytes{std::uint64_t{1} << 40}}});
  Allocator allocator{driver};
  simulated_machine machine{};
  machine.allocator = make_c_handle(allocator);
  const char* const broken = out_of_memory_tells_whose_memory_it_is(&machine);
  EXPECT_EQ(broken, nullptr) << broken << "\nlast error: " << cairn_last_error_message();
  EXPECT_EQ(cairn_allocator_destroy(machine.allocator), CAIRN_OK);
}
TEST_F(CApi, ADoubleFreeChangesNothing) { tell(a_double_free_changes_nothing); }
TEST_F(CApi, MemoryIsLimitedToAFraction) { tell(memory_is_limited_to_a_fraction); }
TEST_F(CApi, SettingsChangeWhileItWorks) { tell(settings_change_while_it_works); }
TEST_F(CApi, StatisticsAreReset) { tell(statistics_are_reset); }
TEST_F(CApi, BlocksTileWhatIsReserved) { tell(blocks_tile_what_is_reserved); }
TEST_F(CApi, CallbacksAreCalledUntilTheyAreRemoved) {
  tell(callbacks_are_called_until_they_are_removed);
}

TEST_F(CApi, WithoutAnAllocatorEveryFunctionSaysSo) {
  const cairn_request request{512, 0, nullptr, 0};
  void* pointer = this;
  int count = 0;
  double fraction = 0;
  cairn_device_stats stats{};
  const auto visitor = [](const cairn_block_info*, void*) {};
  const auto callback = [](int, void*) { return false; };
  const auto observer = [](const cairn_failure*, void*) {};
  for (const cairn_error error :
       {cairn_allocate(nullptr, &request, &pointer), cairn_free(nullptr, nullptr),
        cairn_free_checked(nullptr, nullptr, 1, nullptr),
        cairn_free_on(nullptr, nullptr, nullptr, 0),
        cairn_record_stream(nullptr, nullptr, nullptr, 0), cairn_forget_stream(nullptr, 0, nullptr),
        cairn_process_events(nullptr, 0), cairn_empty_cache(nullptr),
        cairn_set_memory_fraction(nullptr, 0, 1), cairn_get_memory_fraction(nullptr, 0, &fraction),
        cairn_reconfigure(nullptr, ""), cairn_get_device_count(nullptr, &count),
        cairn_get_stats(nullptr, 0, &stats), cairn_reset_peak_stats(nullptr, 0),
        cairn_reset_accumulated_stats(nullptr, 0), cairn_visit_blocks(nullptr, 0, visitor, nullptr),
        cairn_add_free_memory_callback(nullptr, callback, nullptr, nullptr),
        cairn_add_out_of_memory_observer(nullptr, observer, nullptr, nullptr),
        cairn_remove_callback(nullptr, 1)}) {
    refused(error, "`allocator` is null: get one from cairn_allocator_default()");
  }
  EXPECT_EQ(pointer, nullptr);
}

TEST_F(CApi, WithNowhereToPutTheResultEveryFunctionSaysSo) {
  const cairn_request request{512, 0, nullptr, 0};
  void* pointer = this;
  refused(cairn_allocate(handle_, &request, nullptr), "`pointer` is null");
  refused(cairn_allocate(handle_, nullptr, &pointer), "`request` is null");
  refused(cairn_allocator_default(nullptr), "`allocator` is null");
  refused(cairn_allocator_create("", nullptr), "`allocator` is null");
  refused(cairn_allocator_create_from_environment(nullptr), "`allocator` is null");
  refused(cairn_get_memory_fraction(handle_, 0, nullptr), "`fraction` is null");
  refused(cairn_get_device_count(handle_, nullptr), "`count` is null");
  refused(cairn_get_stats(handle_, 0, nullptr), "`stats` is null");
  refused(cairn_visit_blocks(handle_, 0, nullptr, nullptr), "`visitor` is null");
  refused(cairn_add_free_memory_callback(handle_, nullptr, nullptr, nullptr), "`callback` is null");
  refused(cairn_add_out_of_memory_observer(handle_, nullptr, nullptr, nullptr),
          "`observer` is null");
  EXPECT_EQ(allocator_.stats(0).allocation.all.allocated, 0);
}

TEST_F(CApi, NoSettingsAreTheDefaults) {
  EXPECT_EQ(cairn_reconfigure(handle_, nullptr), CAIRN_OK);
  EXPECT_EQ(cairn_reconfigure(handle_, ""), CAIRN_OK);
}

TEST_F(CApi, TheLastFailureIsTheThreadsOwn) {
  EXPECT_EQ(cairn_free(handle_, this), CAIRN_INVALID_ARGUMENT);
  const std::string ours = cairn_last_error_message();
  std::thread([&] {
    EXPECT_EQ(cairn_last_failure()->code, CAIRN_OK);
    EXPECT_STREQ(cairn_last_error_message(), "");
    EXPECT_EQ(cairn_reset_peak_stats(handle_, 9), CAIRN_INVALID_ARGUMENT);
    EXPECT_NE(cairn_last_error_message(), ours);
  }).join();
  EXPECT_EQ(cairn_last_error_message(), ours);
}

// What a thread's last destructors are told.
cairn_error told = CAIRN_OK;
std::string words;
struct AtTheEnd {
  bool is_made = true;
  ~AtTheEnd() {
    told = cairn_empty_cache(nullptr);
    words = cairn_last_error_message();
  }
};

TEST_F(CApi, AFailureAfterTheEndOfTheThreadsLastOneHasItsCode) {
  std::thread([] {
    static thread_local AtTheEnd end;  // Made before the thread's first failure, so it ends later.
    EXPECT_TRUE(end.is_made);
    EXPECT_EQ(cairn_empty_cache(nullptr), CAIRN_INVALID_ARGUMENT);
  }).join();
  EXPECT_EQ(told, CAIRN_INVALID_ARGUMENT);
  EXPECT_NE(words.find("ended before"), std::string::npos) << words;
}

TEST_F(CApi, TheVersionIsThatOfItsNumbers) {
  const std::string numbers = std::to_string(CAIRN_VERSION_MAJOR) + "." +
                              std::to_string(CAIRN_VERSION_MINOR) + "." +
                              std::to_string(CAIRN_VERSION_PATCH);
  EXPECT_EQ(numbers, CAIRN_VERSION);
  EXPECT_EQ(cairn_version(), numbers);
}

TEST_F(CApi, EveryErrorHasAName) {
  EXPECT_STREQ(cairn_error_name(CAIRN_OK), "none");
  EXPECT_STREQ(cairn_error_name(CAIRN_OUT_OF_MEMORY), "out_of_memory");
  EXPECT_STREQ(cairn_error_name(CAIRN_OUT_OF_HOST_MEMORY), "out_of_host_memory");
  EXPECT_STREQ(cairn_version(), CAIRN_VERSION);
}

TEST_F(CApi, DestroyingAHandleLeavesTheAllocatorOfAnother) {
  void* const block = allocator_.allocate({512});
  cairn_allocator* const second = make_c_handle(allocator_);
  EXPECT_EQ(cairn_allocator_destroy(second), CAIRN_OK);
  EXPECT_EQ(cairn_allocator_destroy(nullptr), CAIRN_OK);
  EXPECT_EQ(cairn_free(handle_, block), CAIRN_OK);
}

}  // namespace
}  // namespace cairn
