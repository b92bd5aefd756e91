// A driver over another whose next answers can be replaced, by such as no CUDA driver should give,
// and during whose calls something else happens.
//
// Thread safety: calls from several threads are passed on; what is replaced is chosen before.
#pragma once

#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "testing/liar_in_test.h"

namespace cairn::proptests {

class StrangeDriver final : public testing::Liar {
 public:
  using Liar::Liar;

  // Once: what the next malloc() gives instead of memory; or that the host has no memory for it.
  std::optional<Address> next_address;
  bool throws_next = false;
  // Once: what happens on the next malloc(), before or after the driver below works.
  std::function<void()> before_malloc;
  std::function<void()> after_malloc;
  std::optional<std::uint64_t> id;  // Of every stream.
  std::optional<Bytes> total;
  std::vector<ProcessMemory> users;

  Bytes total_memory(DeviceIndex device) const override {
    return total ? *total : Liar::total_memory(device);
  }
  std::vector<ProcessMemory> processes(DeviceIndex) const override { return users; }
  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
    if (std::exchange(throws_next, false)) throw std::bad_alloc();
    if (next_address) return *std::exchange(next_address, std::nullopt);
    if (const auto act = std::exchange(before_malloc, nullptr)) act();
    auto answer = Liar::malloc(device, size);
    if (const auto act = std::exchange(after_malloc, nullptr)) act();
    return answer;
  }
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override {
    if (id) return *id;
    return Liar::stream_id(stream);
  }
};

}  // namespace cairn::proptests
