// What all of CUDA's copies and fills come to.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace cairn::simulator {

// Bytes at a device's address that nothing stands behind read as whatever was at `to` before.
CUresult copy(void* to, const void* from, std::size_t size, CUstream stream);

// The lowest `size` bytes of the value, over and over: 1, 2 or 4.
struct Pattern {
  unsigned int value = 0;
  std::size_t size = 1;
};
CUresult fill(void* to, Pattern pattern, std::size_t count, CUstream stream);

// One row after another.
template <class Row>
CUresult each_row(std::size_t height, Row&& row) {
  for (std::size_t i = 0; i < height; ++i) {
    if (const CUresult refused = row(i)) return refused;
  }
  return CUDA_SUCCESS;
}

}  // namespace cairn::simulator
