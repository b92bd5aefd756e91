// PyTorch's and CuPy's functions, and default allocators in C, over the machine's libcuda.so.1: run
// once over the simulated one, and once without any.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "cairn/allocator.h"
#include "cairn/cairn.h"
#include "cairn/plugins.h"

namespace cairn {
namespace {

bool has_libcuda() { return dlopen("libcuda.so.1", RTLD_LAZY) != nullptr; }

bool is_simulated() {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY);
  return library != nullptr && dlsym(library, "cairn_sim_reset") != nullptr;
}

template <class Act>
std::string unsupported(Act&& act) {
  try {
    act();
  } catch (const Unsupported& failure) {
    return failure.what();
  }
  ADD_FAILURE() << "it did not throw";
  return "";
}

class WithoutADriver : public testing::Test {
 protected:
  void SetUp() override {
    if (has_libcuda()) GTEST_SKIP() << "there is a libcuda.so.1";
  }
};

TEST_F(WithoutADriver, AllThatNeedsItSaysSo) {
  const std::string reason = unsupported([] { default_allocator(); });
  EXPECT_NE(reason.find("CUDA"), std::string::npos) << reason;
  EXPECT_EQ(reason.find("libcuda.so.1"), reason.rfind("libcuda.so.1")) << "named once: " << reason;
  EXPECT_EQ(unsupported([] { cairn_torch_alloc(512, 0, nullptr); }), reason);
  EXPECT_EQ(unsupported([] { cairn_torch_record_stream(nullptr, nullptr); }), reason);
  EXPECT_EQ(unsupported([] { cairn_torch_init(1); }), reason);
  EXPECT_EQ(unsupported([] { cairn_torch_reset(); }), reason);
  EXPECT_EQ(unsupported([] { cairn_torch_memory_fraction(1, 0); }), reason);
  EXPECT_EQ(unsupported([] { cairn_torch_base_alloc(nullptr, nullptr); }), reason);
  EXPECT_EQ(unsupported([] { cairn_cupy_malloc(nullptr, 512, 0); }), reason);
}

TEST_F(WithoutADriver, InCItIsAnError) {
  int something = 0;
  for (const auto make : {cairn_allocator_default, cairn_allocator_create_from_environment,
                          +[](cairn_allocator** out) { return cairn_allocator_create("", out); }}) {
    auto* allocator = reinterpret_cast<cairn_allocator*>(&something);
    EXPECT_EQ(make(&allocator), CAIRN_UNSUPPORTED);
    EXPECT_EQ(allocator, nullptr);
    EXPECT_EQ(cairn_last_error_message(), unsupported([] { default_allocator(); }));
  }
}

TEST_F(WithoutADriver, FreesThrowNothing) {
  int something = 0;
  testing::internal::CaptureStderr();
  cairn_torch_free(nullptr, 0, 0, nullptr);
  cairn_cupy_free(nullptr, nullptr, 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  cairn_torch_free(&something, 4, 0, nullptr);
  cairn_cupy_free(nullptr, &something, 0);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cairn: a free failed: "),
            std::string::npos);
}

class OverSimulatedCuda : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(is_simulated()) << "LD_LIBRARY_PATH leads to no simulated libcuda.so.1";
  }
  static std::int64_t allocated() {
    return default_allocator().stats(0).allocated_bytes.all.current;
  }
};

TEST_F(OverSimulatedCuda, PyTorchAllocatesAndFrees) {
  cairn_torch_init(1);
  const auto stream = reinterpret_cast<cairn_stream>(std::uintptr_t{2});
  void* const tensor = cairn_torch_alloc(3 << 20, 0, stream);
  EXPECT_EQ(allocated(), 3 << 20);
  cairn_torch_record_stream(tensor, nullptr);
  std::size_t size_bytes = 0;
  EXPECT_EQ(cairn_torch_base_alloc(static_cast<char*>(tensor) + 1000, &size_bytes), tensor);
  EXPECT_EQ(size_bytes, 20U << 20);
  EXPECT_EQ(cairn_torch_base_alloc(tensor, nullptr), tensor);
  cairn_torch_free(tensor, 3 << 20, 0, stream);
  EXPECT_EQ(allocated(), 0);
  cairn_torch_reset();
  EXPECT_EQ(default_allocator().stats(0).reserved_bytes.all.current, 0);
  EXPECT_THROW(cairn_torch_base_alloc(tensor, nullptr), InvalidArgument);
}

TEST_F(OverSimulatedCuda, PyTorchIsToldOfFailuresByExceptions) {
  cairn_torch_memory_fraction(0.25, 0);
  EXPECT_THROW(cairn_torch_alloc(ssize_t{30} << 30, 0, nullptr), OutOfMemory);
  cairn_torch_memory_fraction(1, 0);
  EXPECT_THROW(cairn_torch_alloc(-1, 0, nullptr), OutOfMemory);
  EXPECT_THROW(cairn_torch_alloc(512, 77, nullptr), InvalidArgument);
  EXPECT_THROW(cairn_torch_memory_fraction(2, 0), InvalidArgument);
  EXPECT_EQ(cairn_torch_alloc(0, 0, nullptr), nullptr);
}

TEST_F(OverSimulatedCuda, CuPysParameterIsTheStream) {
  void* const stream = reinterpret_cast<void*>(std::uintptr_t{2});
  void* const block = cairn_cupy_malloc(stream, 512, 0);
  EXPECT_EQ(default_allocator().stats(0).allocation.all.current, 1);
  cairn_cupy_free(stream, block, 0);
  void* const other = cairn_cupy_malloc(nullptr, 512, 0);
  EXPECT_NE(other, block);
  EXPECT_EQ(cairn_cupy_malloc(stream, 512, 0), block);
  cairn_cupy_free(stream, block, 0);
  cairn_cupy_free(nullptr, other, 0);
  EXPECT_EQ(allocated(), 0);
}

TEST_F(OverSimulatedCuda, AFreeThatFailsComplains) {
  void* const block = cairn_cupy_malloc(nullptr, 512, 0);
  cairn_torch_free(block, 512, 0, nullptr);
  testing::internal::CaptureStderr();
  cairn_torch_free(block, 512, 0, nullptr);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("was it freed before?"), std::string::npos);
}

TEST_F(OverSimulatedCuda, AllocatorsInCAreMadeOverIt) {
  cairn_allocator* shared = nullptr;
  cairn_allocator* own = nullptr;
  ASSERT_EQ(cairn_allocator_default(&shared), CAIRN_OK);
  ASSERT_EQ(cairn_allocator_create("max_split_size_mb:64", &own), CAIRN_OK);
  cairn_device_stats stats{};
  EXPECT_EQ(cairn_get_stats(own, 0, &stats), CAIRN_OK);
  EXPECT_EQ(stats.max_split_size_bytes, 64U << 20);
  EXPECT_EQ(cairn_allocator_destroy(own), CAIRN_OK);
  EXPECT_EQ(cairn_allocator_destroy(shared), CAIRN_INVALID_ARGUMENT);
  EXPECT_EQ(cairn_allocator_create("max_split_size_mb:bad", &own), CAIRN_INVALID_ARGUMENT);
  EXPECT_EQ(own, nullptr);
  EXPECT_EQ(cairn_allocator_create("expandable_segments:True", &own), CAIRN_UNSUPPORTED);
}

}  // namespace
}  // namespace cairn
