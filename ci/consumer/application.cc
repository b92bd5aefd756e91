// The least an application does with Cairn: includes it as installed, links it, allocates. Where
// there is no GPU it says why, and exits with 1.
#include <cstdio>

#include "cairn/allocator.h"
#include "cairn/buffer.h"
#include "cairn/options.h"

int main() {
  const cairn::ParsedSettings settings = cairn::parse_settings("max_split_size_mb:128");
  if (!settings.ok || settings.options.max_split_size_bytes != 128ull << 20) {
    std::fprintf(stderr, "application: settings: %s\n", settings.error.message.c_str());
    return 2;
  }
  try {
    const cairn::Buffer buffer(cairn::default_allocator(), {1 << 20});
    std::printf("application: %zu bytes at %p\n", buffer.size_bytes(), buffer.data());
    return 0;
  } catch (const cairn::Exception& failure) {
    std::fprintf(stderr, "application: %s\n", failure.what());
    return 1;
  }
}
