#include "testing/op_encoder_names.h"

#include <algorithm>

namespace cairn::testing {

void EncoderNames::begin(const EncodedWorld& world, const std::vector<Statement>& declarations) {
  for (const Statement& declaration : declarations) {
    const auto* made = std::get_if<MakeStream>(&declaration.operation);
    const std::size_t place = streams_.size();
    if (made != nullptr && place < world.streams.size())
      streams_[world.streams[place].stream] = made->stream;
  }
  const auto& live = decoder_.state().live();
  for (std::size_t i = 0; i < std::min(live.size(), world.blocks.size()); ++i)
    blocks_[world.blocks[i]] = live[i].name;
}

void EncoderNames::learn(const Statement& ours, const Statement& theirs) {
  if (const auto* alloc = std::get_if<Alloc>(&ours.operation))
    blocks_[alloc->name] = std::get<Alloc>(theirs.operation).name;
  if (const auto* made = std::get_if<MakeStream>(&ours.operation))
    streams_[made->stream] = std::get<MakeStream>(theirs.operation).stream;
  if (std::holds_alternative<ThreadExit>(ours.operation)) threads_.erase(ours.thread.value_or(0));
}

std::optional<std::size_t> EncoderNames::thread(int number) {
  const auto known = threads_.find(number);
  if (known != threads_.end()) return known->second;
  const std::size_t count = decoder_.threads().size();
  const auto is_free = [&](std::size_t place) {
    return std::ranges::none_of(threads_, [&](const auto& each) { return each.second == place; });
  };
  auto place = static_cast<std::size_t>(number);
  if (place >= count || !is_free(place)) place = 1;
  while (place < count && !is_free(place)) ++place;
  if (place >= count) return std::nullopt;
  threads_[number] = place;
  return place;
}

const KnownStream* EncoderNames::stream(const std::string& name) const {
  const auto known = streams_.find(name);
  if (known == streams_.end()) return nullptr;
  const auto& streams = decoder_.state().streams();
  const auto is_it = [&](const KnownStream& each) { return each.place.name == known->second; };
  const auto found = std::ranges::find_if(streams, is_it);
  return found == streams.end() ? nullptr : &*found;
}

std::optional<StreamPlace> EncoderNames::place(const std::string& name, int thread) const {
  const DeviceIndex device = decoder_.state().current_device(thread);
  if (name == "s0") return StreamPlace{name, device, 0};
  if (name == "ptds") return StreamPlace{name, device, thread};
  const KnownStream* known = stream(name);
  if (known == nullptr) return std::nullopt;
  return known->place;
}

std::optional<std::size_t> EncoderNames::live(const std::string& name) const {
  const auto known = blocks_.find(name);
  if (known == blocks_.end()) return std::nullopt;
  const auto& live = decoder_.state().live();
  const auto found = std::ranges::find(live, known->second, &KnownBlock::name);
  if (found == live.end()) return std::nullopt;
  return static_cast<std::size_t>(found - live.begin());
}

std::optional<std::size_t> EncoderNames::freed(const std::string& name) const {
  const auto known = blocks_.find(name);
  if (known == blocks_.end()) return std::nullopt;
  const auto& freed = decoder_.state().freed();
  const auto found = std::ranges::find(freed, known->second);
  if (found == freed.end()) return std::nullopt;
  return static_cast<std::size_t>(found - freed.begin());
}

}  // namespace cairn::testing
