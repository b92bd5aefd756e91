#include "allocator/stream_directory.h"

#include "allocator/error_text.h"
#include "base/thread_number.h"
#include "invariants/catalogue/hook.h"

namespace cairn {

Result<StreamId, Error> StreamDirectory::identify(StreamRef stream) {
  if (is_plain(stream)) return plain(stream);
  if (stream.handle == per_thread_stream_handle) return per_thread();
  if (stream.handle >= first_special_stream) {
    CAIRN_PROBE("identify.impossible_handle");
    return Failure{impossible_stream(stream.handle)};
  }
  return ask_for_id(stream);
}

StreamId StreamDirectory::per_thread() const {
  if (!deviations_.tells_equal_handles_apart) return StreamId{per_thread_stream_handle};
  return per_thread_stream(this_thread_number());
}

Result<StreamId, Error> StreamDirectory::ask_for_id(StreamRef stream) {
  const auto id = driver_.stream_id(stream);
  if (!id) {
    CAIRN_PROBE("identify.stream_id_failed");
    return Failure{cuda_error(DriverCall::stream_id, stream_in_words({stream.handle}),
                              stream.device, id.error())};
  }
  if (*id == 0 || *id >= first_special_stream) {
    CAIRN_PROBE("identify.impossible_id");
    return Failure{impossible_stream(*id)};
  }
  const StreamId known{*id};
  const auto ids = ids_.lock();
  const auto latest = ids->latest.try_emplace(stream, known).first;
  if (latest->second != known) ids->handles.erase({stream.device, latest->second});
  latest->second = known;
  ids->handles[{stream.device, known}] = stream.handle;
  return known;
}

std::optional<StreamId> StreamDirectory::last_known(StreamRef stream) const {
  const auto ids = ids_.lock();
  const auto latest = ids->latest.find(stream);
  if (latest == ids->latest.end()) return std::nullopt;
  return latest->second;
}

DriverResult<std::optional<StreamRef>> StreamDirectory::direct(StreamKey stream) const {
  using As = std::optional<StreamRef>;
  if (stream.id == legacy_default_stream) return As{{stream.device, legacy_stream_handle}};
  if (is_per_thread(stream.id)) {
    if (stream.id != per_thread_stream(this_thread_number())) return As{};
    return As{{stream.device, per_thread_stream_handle}};
  }
  if (identity_ == StreamIdentity::handle) return As{{stream.device, stream.id.value}};
  const As last = last_handle(stream);
  if (!last) {
    CAIRN_PROBE("direct.handle_unknown");
    return As{};
  }
  const auto id = driver_.stream_id(*last);
  if (!id && id.error() == CudaStatus::invalid_handle) {
    CAIRN_PROBE("direct.handle_dead");
    return As{};
  }
  if (!id) {
    CAIRN_PROBE("direct.stream_id_failed");
    return Failure{id.error()};
  }
  return *id == stream.id.value ? last : As{};
}

std::optional<StreamRef> StreamDirectory::last_handle(StreamKey stream) const {
  const auto ids = ids_.lock();
  const auto handle = ids->handles.find(stream);
  if (handle == ids->handles.end()) return std::nullopt;
  return StreamRef{stream.device, handle->second};
}

void StreamDirectory::forget(StreamRef stream) {
  const auto ids = ids_.lock();
  const auto latest = ids->latest.find(stream);
  if (latest == ids->latest.end()) return;
  ids->handles.erase({stream.device, latest->second});
  ids->latest.erase(latest);
}

}  // namespace cairn
