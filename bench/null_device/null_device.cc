#include "bench/null_device/null_device.h"

#include <cstdlib>
#include <memory>

namespace cairn::bench {
namespace {

constexpr std::uint64_t page_bytes = std::uint64_t{2} << 20;
constexpr std::uint64_t pages = std::uint64_t{1} << 26;
constexpr std::uint64_t lowest = std::uint64_t{1} << 44;

struct Freed {
  void operator()(std::uint64_t* memory) const { std::free(memory); }
};

// Addresses come in a row, and begin anew where all was given back.
struct Device {
  NullCalls calls{};
  std::uint64_t held = 0;
  std::uint64_t next_page = 0;
  // By page, of what begins there. The host pays for what is touched alone.
  std::unique_ptr<std::uint64_t, Freed> sizes{
      static_cast<std::uint64_t*>(std::calloc(pages, sizeof(std::uint64_t)))};
};
Device device;

}  // namespace

NullCalls* cairn_null_device_calls() { return &device.calls; }
std::uint64_t cairn_null_device_held() { return device.held; }

std::uint64_t cairn_null_device_malloc(std::uint64_t size_bytes) {
  if (size_bytes == 0 || size_bytes > null_memory_bytes - device.held) return 0;
  if (device.held == 0) device.next_page = 0;
  const std::uint64_t page = device.next_page;
  const std::uint64_t past = page + (size_bytes + page_bytes - 1) / page_bytes;
  if (past > pages || device.sizes == nullptr) return 0;
  device.next_page = past;
  device.sizes.get()[page] = size_bytes;
  device.held += size_bytes;
  return lowest + page * page_bytes;
}

bool cairn_null_device_free(std::uint64_t address) {
  const std::uint64_t page = (address - lowest) / page_bytes;
  if (address < lowest || page >= device.next_page || device.sizes.get()[page] == 0) return false;
  device.held -= device.sizes.get()[page];
  device.sizes.get()[page] = 0;
  return true;
}

}  // namespace cairn::bench
