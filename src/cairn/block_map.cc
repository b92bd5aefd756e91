#include "cairn/block_map.h"

namespace cairn {

const char* to_string(BlockState state) noexcept {
  switch (state) {
    case BlockState::active_allocated:
      return "active_allocated";
    case BlockState::active_pending_free:
      return "active_pending_free";
    case BlockState::inactive:
      return "inactive";
  }
  return "unknown";
}

}  // namespace cairn
