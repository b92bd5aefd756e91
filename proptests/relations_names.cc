#include "relations_names.h"

#include <iterator>
#include <optional>
#include <thread>

#include "base/thread_number.h"
#include "testing/declarations.h"
#include "testing/printer.h"

namespace cairn::proptests {
namespace {

using testing::DestroyStream;
using testing::Free;
using testing::MakeStream;
using testing::Statement;
using testing::Sync;

// A thread that asks now has the next number.
std::uint64_t latest_thread_number() {
  static_cast<void>(this_thread_number());
  std::uint64_t number = 0;
  std::thread([&number] { number = this_thread_number(); }).join();
  return number;
}

}  // namespace

StreamNames::StreamNames(const testing::Program& program)
    : gpu_(testing::declared_devices(program)), threads_(latest_thread_number()) {}

void StreamNames::make(const MakeStream& made) {
  simulator::StreamOptions options;
  options.device = made.gpu.value_or(0);
  if (made.reuse) options.reuse_handle = streams_.at(*made.reuse).handle;
  const auto stream = gpu_.make_stream(options);
  streams_[made.stream] = *stream;
  names_[stream->handle] = made.stream;
  names_[*gpu_.stream_id(*stream)] = made.stream;
}

void StreamNames::follow(const Statement& statement, bool succeeded) {
  if (const auto* made = std::get_if<MakeStream>(&statement.operation)) make(*made);
  const auto* destroyed = std::get_if<DestroyStream>(&statement.operation);
  if (destroyed != nullptr && succeeded)
    static_cast<void>(gpu_.destroy_stream(streams_.at(destroyed->stream), false));
  // World makes a stream that is named for the first time.
  const auto* free = std::get_if<Free>(&statement.operation);
  const bool names_one = free != nullptr && free->stream && *free->stream != "s0" &&
                         *free->stream != "ptds" && !streams_.contains(*free->stream);
  if (names_one) make({*free->stream, 0, false, {}});
  // The threads say this in the order of their numbers, and nothing before it (see prepare()).
  const auto* sync = std::get_if<Sync>(&statement.operation);
  if (sync == nullptr || sync->stream != "ptds" || !statement.thread) return;
  if (number_of_.try_emplace(*statement.thread, threads_ + 1).second)
    thread_of_[++threads_] = *statement.thread;
}

std::string StreamNames::of_handle(std::uint64_t handle) const {
  if (handle == 0 || handle == legacy_stream_handle) return "s0";
  return handle == per_thread_stream_handle ? "ptds" : known(handle);
}

std::string StreamNames::known(std::uint64_t number) const {
  const auto found = names_.find(number);
  return found == names_.end() ? testing::print_address({number}) : found->second;
}

std::string StreamNames::of_id(std::uint64_t id) const {
  const StreamId stream{id};
  if (stream == legacy_default_stream) return "s0";
  if (is_retired(stream)) return "retired " + std::to_string(id ^ retired_stream(0).value);
  if (!is_per_thread(stream)) return known(id);
  const auto thread = thread_of_.find(id ^ per_thread_stream(0).value);
  return "ptds of " + (thread == thread_of_.end() ? "the main thread"
                                                  : "thread " + std::to_string(thread->second));
}

void SegmentNames::add(Span segment) { segments_[segment.begin] = {count_++, segment}; }

std::string SegmentNames::of(Address address) const {
  const auto next = segments_.upper_bound(address);
  if (next == segments_.begin()) return testing::print_address(address);
  const Segment& segment = std::prev(next)->second;
  if (!segment.span.contains(address)) return testing::print_address(address);
  const Address distance{(address - segment.span.begin).count};
  return "segment " + std::to_string(segment.number) + "+" + testing::print_address(distance);
}

}  // namespace cairn::proptests
