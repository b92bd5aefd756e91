// Thrust, with Cairn below its algorithms (temporary memory) and its containers, by CUDA 13's
// nvcc, linked with the shared runtime and run on the simulated CUDA: kernels do nothing there, so
// what is looked at is memory. Prints what does not hold and exits with 1, or exits with 0.
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/scan.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "cairn/allocator.h"
#include "cairn/cuda_driver.h"
#include "cairn/memory_resource.h"
#include "cairn/stl_allocator.h"
#include "cairn/thrust.h"
#include "proptests/clients/judged.h"

namespace cairn::clients {
namespace {

static_assert(cuda::mr::async_resource_with<MemoryResource, cuda::mr::device_accessible>);

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("thrust_client: %s does not hold\n", what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition)

// Cairn's allocator, which tells the judge that the algorithm uses its memory until long after it
// is given back.
class Temporary {
 public:
  using value_type = char;

  Temporary(Allocator& allocator, cudaStream_t stream) : memory_(allocator, 0, stream) {}

  char* allocate(std::ptrdiff_t bytes) {
    char* const memory = memory_.allocate(static_cast<std::size_t>(bytes));
    handed_out(memory_.stream(), memory, static_cast<std::size_t>(bytes));
    latest = memory;
    ++count;
    return memory;
  }
  void deallocate(char* memory, std::size_t bytes) {
    write_late(memory_.stream(), memory, bytes);
    taken_back(memory_.stream(), memory, bytes);
    memory_.deallocate(memory, bytes);
  }

  char* latest = nullptr;
  int count = 0;

 private:
  StlAllocator<char> memory_;
};

std::int64_t allocated(const Allocator& allocator) {
  return allocator.stats(0).allocated_bytes.all.current;
}

void scan(Temporary& temporary, cudaStream_t stream, int* numbers) {
  thrust::inclusive_scan(thrust::cuda::par_nosync(temporary).on(stream), numbers,
                         numbers + 1'000'000, numbers);
}

void algorithms_on_two_streams(Allocator& allocator) {
  const OwnStream first;
  const OwnStream second;
  StlAllocator<int> ints(allocator, 0, cudaStream_t(first));
  int* const numbers = ints.allocate(1'000'000);
  Temporary mine(allocator, first);
  Temporary others(allocator, second);
  scan(mine, first, numbers);
  EXPECT(mine.count == 1);
  const char* const once = mine.latest;
  scan(others, second, numbers);
  EXPECT(others.count == 1 && others.latest != once);
  scan(mine, first, numbers);
  EXPECT(mine.latest == once);
  ints.deallocate(numbers, 1'000'000);
  EXPECT(allocated(allocator) == 0);
}

void a_container(Allocator& allocator) {
  using Vector = thrust::device_vector<double, ThrustAllocator<double>>;
  ThrustResource resource(allocator);
  {
    Vector vector(1000, 1.0, ThrustAllocator<double>(&resource));
    EXPECT(allocator.stats(0).requested_bytes.all.current == 8000);
    vector.resize(100'000);
    const Vector copy = vector;
    EXPECT(allocator.stats(0).requested_bytes.all.current == 2 * 800'000);
    Vector taken = std::move(vector);
    EXPECT(taken.data() != copy.data() && taken.size() == 100'000);
    EXPECT(allocator.stats(0).allocation.all.current == 2);
  }
  EXPECT(allocated(allocator) == 0);
}

void failures_are_exceptions(Allocator& allocator) {
  ThrustResource resource(allocator);
  bool threw = false;
  try {
    (void)resource.allocate(std::size_t{81} << 30);
  } catch (const OutOfMemory&) {
    threw = true;
  }
  EXPECT(threw);
  const auto memory = resource.allocate(512, 1 << 21);
  EXPECT(reinterpret_cast<std::uintptr_t>(memory.get()) % (1 << 21) == 0);
  resource.deallocate(memory, 512, 1 << 21);
  EXPECT(allocated(allocator) == 0);
}

// What act() says on stderr.
template <class Act>
std::string said_by(Act&& act) {
  std::fflush(stderr);
  const int before = dup(STDERR_FILENO);
  std::FILE* const written = std::tmpfile();
  dup2(fileno(written), STDERR_FILENO);
  act();
  dup2(before, STDERR_FILENO);
  close(before);
  std::rewind(written);
  char text[1000] = {};
  const std::size_t length = std::fread(text, 1, sizeof text - 1, written);
  std::fclose(written);
  return {text, length};
}

void a_wrong_free_is_said(Allocator& allocator) {
  ThrustResource resource(allocator);
  const auto memory = resource.allocate(512);
  EXPECT(said_by([&] { resource.deallocate(memory, 512); }).empty());
  const std::string said = said_by([&] { resource.deallocate(memory, 512); });
  EXPECT(said.find("cairn: a free of 0x") == 0 && said.find("freed before") != std::string::npos);
  EXPECT(allocated(allocator) == 0);
}

int run() {
  Allocator allocator(cuda_driver());
  algorithms_on_two_streams(allocator);
  a_container(allocator);
  failures_are_exceptions(allocator);
  a_wrong_free_is_said(allocator);
  const std::string seen = violations();
  if (!seen.empty()) std::printf("thrust_client: the judge saw:\n%s\n", seen.c_str());
  return failures == 0 && seen.empty() ? 0 : 1;
}

}  // namespace
}  // namespace cairn::clients

int main() { return cairn::clients::run(); }
