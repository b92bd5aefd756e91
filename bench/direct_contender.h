// No allocator at all: each request is a call of the driver, and so is each free. The driver costs
// nothing here, so its times are what the benchmark itself costs; with a real one the number of
// calls counts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/stream.h"
#include "driver/null_driver.h"

namespace cairn::bench {

class DirectContender {
 public:
  static constexpr const char* name = "direct";

  void* allocate(std::size_t size_bytes, Stream = nullptr) {
    ++misses_;
    return reinterpret_cast<void*>(
        static_cast<std::uintptr_t>((*driver_.malloc(0, Bytes{size_bytes})).value));
  }
  void free(void* pointer) {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
    static_cast<void>(driver_.free(0, Address{address}));
  }
  void record_stream(void*, Stream) {}
  void release() {}
  std::uint64_t misses() const { return misses_; }

 private:
  NullDriver driver_;
  std::uint64_t misses_ = 0;
};

}  // namespace cairn::bench
