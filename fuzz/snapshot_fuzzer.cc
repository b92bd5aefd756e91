// Any bytes as a pickled snapshot of PyTorch's allocator. What must hold: it is refused with a
// reason, or becomes a Program that prints and is read as the same; whatever the order assumed
// among blocks of equal size.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/parsing.h"
#include "testing/import_snapshot.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view pickle(reinterpret_cast<const char*>(data), size);
  for (const char* tie : {"address", "segment"})
    cairn::fuzz::must_be_whole(cairn::testing::import_snapshot(pickle, {tie}));
  return 0;
}
