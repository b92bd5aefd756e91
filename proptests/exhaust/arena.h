// Host memory that can be put back as it was. While an Arena is entered, all that the process
// allocates by operator new lies in it; what it holds can be saved byte by byte, and restored: then
// every object in it is in the state of that moment again, at the same address. So the real
// allocator, on the simulated GPU, beside its model, is taken back to an earlier state, of which
// neither has to know.
//
// What stands outside (static objects, say) is not taken back. Most of what an allocator holds
// never changes in a small scope (tables that are nearly empty), so an image has only the pieces
// that were ever seen to differ from a base. Whether others do now is looked at before each save
// and restore, so none is missed.
//
// One a process; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::exhaust {

namespace arena {

// From here on what is allocated lies in the arena; or no longer.
void enter();
void leave();

class Inside {
 public:
  Inside() { enter(); }
  ~Inside() { leave(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

// All that lies in it is gone, without destructors.
void clear();
// Images are of what differs from what the arena holds now.
void set_base();
std::size_t bytes_used();
std::size_t bytes_in_images();  // In each.

// What the arena holds at a moment.
class Image {
 public:
  void save();
  void restore() const;
  std::size_t bytes() const { return bytes_.size(); }

 private:
  std::vector<std::byte>
      bytes_;  // Of the pieces that ever changed, in the order in which they did.
};

}  // namespace arena
}  // namespace cairn::exhaust
