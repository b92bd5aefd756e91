#include "invariants/model/streams.h"

#include "invariants/model/cuda_codes.h"

namespace cairn::model {
namespace {

constexpr std::uint64_t null_handle = 0;  // Legacy too.
constexpr std::uint64_t legacy_handle = 1;
constexpr std::uint64_t per_thread_handle = 2;

}  // namespace

Streams::Named Streams::name(StreamName stream, bool device_is_lost) {
  const auto named = [&](StreamId id) {
    return Named{ErrorCode::none, success, {stream.device, id}};
  };
  if (stream.handle == null_handle || stream.handle == legacy_handle) {
    return named(legacy_default_stream);
  }
  if (stream.handle == per_thread_handle) {
    return named(per_thread());
  }
  if (stream.handle >= first_special_stream) return {ErrorCode::invalid_argument, success, {}};
  if (identity_ == StreamIdentity::handle) return named({stream.handle});
  if (!device_is_lost) return ask(stream);
  // No call can be made: it is what it was.
  const Said* said = said_of(stream);
  return said == nullptr ? Named{ErrorCode::cuda_error, success, {}} : named(said->id);
}

StreamId Streams::per_thread() const {
  return policy_.per_thread_stream_of(environment_.thread_number());
}

Streams::Named Streams::ask(StreamName stream) {
  const Environment::Number id = environment_.stream_id(stream.device, stream.handle);
  if (id.cuda_code != success) return {ErrorCode::cuda_error, id.cuda_code, {}};
  if (id.value == 0 || id.value >= first_special_stream) {
    return {ErrorCode::invalid_argument, success, {}};
  }
  if (Said* said = said_of(stream)) {
    said->id = {id.value};
  } else {
    said_.push_back({stream, {id.value}});
  }
  return {ErrorCode::none, success, {stream.device, {id.value}}};
}

void Streams::forget(StreamName stream) {
  std::erase_if(said_, [&](const Said& said) {
    return said.stream.device == stream.device && said.stream.handle == stream.handle;
  });
}

Streams::Said* Streams::said_of(StreamName stream) {
  for (Said& said : said_) {
    if (said.stream.device == stream.device && said.stream.handle == stream.handle) return &said;
  }
  return nullptr;
}

Reach Streams::reach(StreamKey key) const {
  const auto direct = [](std::uint64_t handle) {
    return Reach{Reach::Way::direct, handle, success};
  };
  if (is_retired(key.id)) return {Reach::Way::retired, 0, success};
  if (key.id == legacy_default_stream) return direct(legacy_handle);
  if (is_per_thread(key.id)) {
    const bool is_own = key.id == per_thread();
    return is_own ? direct(per_thread_handle) : Reach{Reach::Way::context, 0, success};
  }
  return identity_ == StreamIdentity::handle ? direct(key.id.value) : reach_by_id(key);
}

// The handle may be another stream's by now, or nobody's.
Reach Streams::reach_by_id(StreamKey key) const {
  const Reach context{Reach::Way::context, 0, success};
  for (const Said& said : said_) {
    if (said.stream.device != key.device || said.id != key.id) continue;
    const Environment::Number now = environment_.stream_id(key.device, said.stream.handle);
    if (now.cuda_code == success && now.value == key.id.value)
      return {Reach::Way::direct, said.stream.handle, success};
    const bool is_known = now.cuda_code == success || now.cuda_code == invalid_handle;
    return is_known ? context : Reach{Reach::Way::context, 0, now.cuda_code};
  }
  return context;
}

}  // namespace cairn::model
