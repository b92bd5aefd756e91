#include "testing/streams.h"

#include "base/thread_number.h"

namespace cairn::testing {

Result<StreamRef, std::string> Streams::mention(const std::string& name, DeviceIndex device) {
  if (name == "s0") return StreamRef{device, 0};
  if (name == "ptds") return StreamRef{device, per_thread_stream_handle};
  if (!streams_.contains(name)) {
    const auto made = make({.stream = name, .gpu = {}, .blocking = false, .reuse = {}}, device);
    if (!made) return Failure{made.error()};
  }
  return streams_.at(name).ref;
}

Result<Done, std::string> Streams::make(const MakeStream& make, DeviceIndex device) {
  const NamedStream* before = find(make.stream);
  if (before != nullptr && !before->is_dead)
    return Failure{"stream '" + make.stream + "' exists already"};
  simulator::StreamOptions options;
  options.device = device;
  options.is_blocking = make.blocking;
  if (make.reuse) {
    const NamedStream* dead = find(*make.reuse);
    if (dead == nullptr) return Failure{"stream '" + *make.reuse + "' is not known"};
    if (!dead->is_dead) return Failure{"stream '" + *make.reuse + "' is not destroyed"};
    options.reuse_handle = dead->ref.handle;
  }
  const auto made = gpu_.make_stream(options);
  if (!made) return Failure{made.error()};
  streams_[make.stream] = {.ref = *made};
  devices_[made->handle].insert(made->device);
  return Done{};
}

Result<Done, std::string> Streams::destroy(const std::string& name, bool announced) {
  NamedStream& stream = streams_.at(name);
  auto destroyed = gpu_.destroy_stream(stream.ref, announced);
  if (destroyed) stream.is_dead = true;
  if (destroyed && announced) devices_[stream.ref.handle].clear();
  return destroyed;
}

void Streams::note_device(const std::string& name, DeviceIndex device) {
  const auto found = streams_.find(name);
  if (found != streams_.end()) devices_[found->second.ref.handle].insert(device);
}

const NamedStream* Streams::find(const std::string& name) const {
  const auto found = streams_.find(name);
  return found == streams_.end() ? nullptr : &found->second;
}

StreamId Streams::per_thread_id() const {
  return policy_.per_thread_stream_of(this_thread_number());
}

StreamId Streams::id(StreamRef stream) const {
  if (stream.handle == 0) return legacy_default_stream;
  if (stream.handle == per_thread_stream_handle) return per_thread_id();
  const bool is_dead = number(stream) == simulator::StreamNumber::none;
  if (identity_ == StreamIdentity::handle || is_dead) return {stream.handle};
  const auto id = gpu_.stream_id(stream);
  return {id ? *id : stream.handle};
}

std::optional<StreamId> Streams::id(const std::string& name) const {
  if (name == "s0") return legacy_default_stream;
  if (name == "ptds") return per_thread_id();
  const NamedStream* stream = find(name);
  if (stream == nullptr) return std::nullopt;
  return id(stream->ref);
}

}  // namespace cairn::testing
