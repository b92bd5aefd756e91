// States that can be gone back to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "arena.h"
#include "operations.h"

namespace cairn::exhaust {

struct Place {
  std::uint32_t node = 0;
  arena::Image image;
  Book book;
};

// Of states to go on from, in the order in which they are gone on from. For those for which there
// was no room the way has to be gone again.
class PlacesAhead {
 public:
  explicit PlacesAhead(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // For one as large as the last, so that none is saved in vain.
  bool has_room() const { return bytes_ + arena::bytes_in_images() < most_bytes_; }
  // Leaves it out where it is too much. REQUIRES: the node is above all before.
  void add(std::uint32_t node, Place place) {
    if (bytes_ + place.image.bytes() > most_bytes_) return;
    bytes_ += place.image.bytes();
    place.node = node;
    places_.push_back(std::move(place));
  }
  std::size_t bytes() const { return bytes_; }
  // REQUIRES: no node above it was asked for.
  std::optional<Place> take(std::uint32_t node) {
    if (places_.empty() || places_.front().node != node) return std::nullopt;
    Place place = std::move(places_.front());
    places_.pop_front();
    bytes_ -= place.image.bytes();
    return place;
  }

 private:
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::deque<Place> places_;
};

}  // namespace cairn::exhaust
