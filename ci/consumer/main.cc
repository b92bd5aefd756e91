// The least an application does with Cairn: includes it as installed, links it, calls it.
#include <cstdio>

#include "cairn/options.h"

int main() {
  const cairn::ParsedSettings settings = cairn::parse_settings("max_split_size_mb:128");
  if (!settings.ok) {
    std::fprintf(stderr, "%s\n", settings.error.message.c_str());
    return 1;
  }
  return settings.options.max_split_size_bytes == 128ull << 20 ? 0 : 1;
}
