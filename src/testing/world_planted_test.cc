// Faults planted around World, each of which it must see.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "allocator/all_devices.h"
#include "invariants/catalogue/report.h"
#include "testing/liar_in_test.h"
#include "testing/world_in_test.h"

namespace cairn::testing {
namespace {

// ---- lies that must be seen ----

template <class Lie>
RunReport run_with(const std::string& text, bool lockstep) {
  RunOptions options;
  options.world.lockstep = lockstep;
  options.world.wrap_driver = [](Driver& below) { return std::make_unique<Lie>(below); };
  return run_text(text, options);
}

TEST(World, AnAddressThatTheDriverNeverGaveIsSeen) {
  struct WrongAddress : Liar {
    using Liar::Liar;
    DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
      auto result = Liar::malloc(device, size);
      return result ? *result + Bytes{std::uint64_t{2} << 20} : result;
    }
  };
  const RunReport model = run_with<WrongAddress>("alloc a 512\n", true);
  EXPECT_EQ(model.verdict, Verdict::violated);
  EXPECT_EQ(model.line, 1);
  EXPECT_EQ(model.expected, "success at 0x100000000000");
  EXPECT_EQ(model.found, "success at 0x100000200000");
  const RunReport judge = run_with<WrongAddress>("alloc a 512\n", false);
  EXPECT_EQ(judge.verdict, Verdict::violated);
  EXPECT_EQ(judge.expected, "violations == 0");
  // It is none of PyTorch's defects.
  const std::string with_defects = "conf pytorch_defects:True\nalloc a 512\n";
  EXPECT_EQ(run_with<WrongAddress>(with_defects, false).expected, "violations == 0");
}

TEST(World, MemoryThatNeverGoesBackIsSeen) {
  struct KeepsAll : Liar {
    using Liar::Liar;
    DriverResult<Done> free(DeviceIndex, Address) override { return Done{}; }
  };
  const std::string text = "alloc a 512\nfree a\nempty_cache\n";
  const RunReport model = run_with<KeepsAll>(text, true);
  EXPECT_EQ(model.verdict, Verdict::violated);
  EXPECT_EQ(model.line, 3);
  EXPECT_EQ(model.expected, "free of 0x100000000000 on device 0");
  EXPECT_EQ(model.found, "no more driver calls");
  const RunReport checker = run_with<KeepsAll>(text, false);
  EXPECT_EQ(checker.verdict, Verdict::violated);
  EXPECT_EQ(checker.expected.substr(0, 3), "D1:");
}

TEST(World, ADriverCallTooManyIsSeen) {
  struct AsksTwice : Liar {
    using Liar::Liar;
    DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
      static_cast<void>(Liar::mem_info(device));
      return Liar::malloc(device, size);
    }
  };
  const RunReport report = run_with<AsksTwice>("alloc a 512\n", true);
  EXPECT_EQ(report.verdict, Verdict::violated);
  EXPECT_EQ(report.expected, "malloc of 2MiB on device 0");
  EXPECT_EQ(report.found, "mem_info on device 0");
}

TEST(World, ADriverCallTooManyAtTheEndIsSeen) {
  struct AsksAfterwards : Liar {
    using Liar::Liar;
    DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
      auto result = Liar::malloc(device, size);
      static_cast<void>(Liar::mem_info(device));
      return result;
    }
  };
  const RunReport report = run_with<AsksAfterwards>("alloc a 512\n", true);
  EXPECT_EQ(report.verdict, Verdict::violated);
  EXPECT_EQ(report.expected, "no more driver calls");
  EXPECT_EQ(report.found, "mem_info on device 0");
}

TEST(World, MemoryHandedOutTwiceIsSeen) {
  struct SameAgain : Liar {
    using Liar::Liar;
    DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
      if (!first_) first_ = *Liar::malloc(device, size);
      return *first_;
    }
    std::optional<Address> first_;
  };
  const RunReport report = run_with<SameAgain>("alloc a 2MiB\nalloc b 2MiB s1\n", false);
  EXPECT_EQ(report.verdict, Verdict::violated);
  EXPECT_EQ(report.line, 2);
}

TEST(World, AFailureThatTheModelDoesNotForetellIsSeen) {
  struct Refuses : Liar {
    using Liar::Liar;
    DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
      static_cast<void>(Liar::malloc(device, size));
      return Failure{CudaStatus::unknown};
    }
  };
  const RunReport report = run_with<Refuses>("alloc a 1 -> cuda_error\n", true);
  EXPECT_EQ(report.verdict, Verdict::violated);
  EXPECT_EQ(report.found, "failure: cuda_error");
}

TEST(World, ARefusalThatTheDriverNeverMadeIsSeen) {
  struct DeniesFrees : Liar {
    using Liar::Liar;
    DriverResult<Done> free(DeviceIndex device, Address address) override {
      static_cast<void>(Liar::free(device, address));
      return Failure{CudaStatus::unknown};
    }
  };
  const RunReport report =
      run_with<DeniesFrees>("alloc a 1\nfree a\nempty_cache -> cuda_error\n", true);
  EXPECT_EQ(report.verdict, Verdict::violated);
  EXPECT_EQ(report.expected, "success");
  EXPECT_EQ(report.found, "failure: cuda_error");
}

// ---- and deeds behind the World's back ----

RunReport run_meddled(const std::string& text, std::function<void(AllDevices&)> meddle,
                      bool lockstep) {
  RunOptions options;
  options.world.lockstep = lockstep;
  options.world.meddle = std::move(meddle);
  return run_text(text, options);
}

constexpr Address first_block{0x100000000000};

TEST(World, ALiveBlockThatIsGoneIsSeen) {
  const auto free_it = [](AllDevices& allocator) {
    ASSERT_TRUE(static_cast<bool>(allocator.free(first_block, {})));
  };
  const RunReport report = run_meddled("alloc a 1\n", free_it, false);
  EXPECT_EQ(report.verdict, Verdict::violated);
  EXPECT_EQ(report.expected, "1 live blocks");
  EXPECT_EQ(report.found, "0 live blocks");
}

TEST(World, ALiveBlockThatChangedIsSeen) {
  const auto replace_it = [](AllDevices& allocator) {
    ASSERT_TRUE(static_cast<bool>(allocator.free(first_block, {})));
    ASSERT_TRUE(static_cast<bool>(allocator.allocate({.size_bytes = 2})));
  };
  const RunReport report = run_meddled("alloc a 1\n", replace_it, false);
  EXPECT_EQ(report.verdict, Verdict::violated);
  EXPECT_EQ(report.expected, "'a' of 512, requested 1, stream 0x0");
  EXPECT_EQ(report.found, "'a' of 512, requested 2, stream 0x0");
}

TEST(World, AStatisticThatDiffersIsNamed) {
  const auto forget_peaks = [](AllDevices& allocator) { allocator.device(0).reset_peak_stats(); };
  const RunReport report = run_meddled("alloc a 1\nfree a\n", forget_peaks, true);
  EXPECT_EQ(report.verdict, Verdict::violated);
  EXPECT_EQ(report.line, 2);
  EXPECT_EQ(report.expected, "allocation.all: current 0, peak 1, allocated 1, freed 1");
  EXPECT_EQ(report.found, "allocation.all: current 0, peak 0, allocated 1, freed 1");
}

TEST(World, AnInvariantThatDoesNotHoldIsNamed) {
  const auto report_it = [](AllDevices&) {
    invariants::report(invariants::segments_disjoint, "two segments", "file", 1);
  };
  const RunReport report = run_meddled("alloc a 1\n", report_it, true);
  EXPECT_EQ(report.verdict, Verdict::violated);
  EXPECT_EQ(report.expected, "H1: No two segments overlap.");
  EXPECT_EQ(report.found, "two segments");
}

}  // namespace
}  // namespace cairn::testing
