// An application under test: the allocator over the simulated GPU, both as installed.
#include <cstdio>

#include "cairn/allocator.h"
#include "simulator/simulated_driver.h"

int main() {
  cairn::simulator::SimulatedGpu gpu;
  cairn::simulator::SimulatedDriver driver(gpu);
  cairn::Allocator allocator(driver);
  void* const block = allocator.allocate({1 << 20});
  allocator.free(block);
  if (allocator.allocate({1 << 20}) == block && allocator.stats(0).num_device_alloc == 1) return 0;
  std::fprintf(stderr, "freed memory was not handed out again\n");
  return 1;
}
