#include "public_face_bad_input.h"

#include <array>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>

namespace cairn::proptests {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

Stream as_handle(std::uint64_t handle) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA's handles are such pointers.
  return reinterpret_cast<Stream>(static_cast<std::uintptr_t>(handle));
}

// Nothing comes of `act(why)`, and `why` says that it is invalid; nor where nobody asks why.
template <class Act>
void try_in_vain(Face& face, ErrorCode code, Act&& act) {
  face.keep([&] {
    Error why;
    RC_ASSERT(!act(&why));
    RC_ASSERT(why.code == code);
    RC_ASSERT(!act(nullptr));
  });
}

template <class Act>
void try_invalid(Face& face, Act&& act) {
  try_in_vain(face, ErrorCode::invalid_argument, act);
}

// `request` is refused by both forms.
void refuse_request(Face& face, const Request& request) {
  Allocator& allocator = face.allocator();
  face.refuse([&] { allocator.allocate(request); });
  try_invalid(face, [&](Error* why) { return allocator.try_allocate(request, why) != nullptr; });
}

// All calls that take a pointer and a stream.
void refuse_pointer(Face& face, void* pointer, Stream stream, int device) {
  Allocator& allocator = face.allocator();
  face.refuse([&] { allocator.record_stream(pointer, stream, device); });
  face.refuse([&] { allocator.free_on(pointer, stream, device); });
  try_invalid(face, [&](Error* why) {
    return allocator.try_record_stream(pointer, stream, device, why) ||
           allocator.try_free_on(pointer, stream, device, why);
  });
}

void refuse_forgetting(Face& face, int device, Stream stream) {
  Allocator& allocator = face.allocator();
  face.refuse([&] { allocator.forget_stream(device, stream); });
  try_invalid(face, [&](Error* why) { return allocator.try_forget_stream(device, stream, why); });
}

}  // namespace

void Refused::show(std::ostream& out) const { out << name_ << ' ' << choice_; }

void NoSuchDevice::act(const FaceModel&, Face& face) const {
  using Limits = std::numeric_limits<int>;
  constexpr std::array devices{-2, -1, face_devices, 1000, Limits::min(), Limits::max()};
  const int device = chosen(devices);
  Allocator& allocator = face.allocator();
  refuse_request(face, {100, device});
  refuse_forgetting(face, device, face.handle(0, 0));
  face.refuse([&] { allocator.process_events(device); });
  try_invalid(face, [&](Error* why) { return allocator.try_process_events(device, why); });
  face.refuse([&] { allocator.set_memory_fraction(device, 0.5); });
  face.refuse([&] { static_cast<void>(allocator.memory_fraction(device)); });
  face.refuse([&] { static_cast<void>(allocator.stats(device)); });
  face.refuse([&] { static_cast<void>(allocator.block_map(device)); });
  face.refuse([&] { allocator.reset_peak_stats(device); });
  face.refuse([&] { allocator.reset_accumulated_stats(device); });
  if (device == Allocator::block_device) return;
  if (!face.pointers().empty()) refuse_pointer(face, face.pointer(0), face.handle(0, 0), device);
}

void BadAlignment::act(const FaceModel&, Face& face) const {
  constexpr std::array<std::size_t, 8> alignments{
      0, 3, 511, 513, 1536, 4 * mib, std::size_t{1} << 63, ~std::size_t{0}};
  refuse_request(face, {100, 0, face.handle(0, 0), chosen(alignments)});
  refuse_request(face, {0, 0, face.handle(0, 0), chosen(alignments)});
}

void ImpossibleSize::act(const FaceModel&, Face& face) const {
  constexpr std::size_t limit = std::size_t{1} << 60;
  constexpr std::array<std::size_t, 4> sizes{limit, limit + 1, std::size_t{1} << 63,
                                             ~std::size_t{0}};
  const Request request{chosen(sizes), 1, face.handle(1, 0)};
  Allocator& allocator = face.allocator();
  face.refuse<OutOfMemory>([&] { allocator.allocate(request); });
  try_in_vain(face, ErrorCode::out_of_memory, [&](Error* why) {
    const bool served = allocator.try_allocate(request, why) != nullptr;
    if (why != nullptr) RC_ASSERT((why->memory == nullptr));
    return served;
  });
}

void BadFraction::act(const FaceModel&, Face& face) const {
  using Limits = std::numeric_limits<double>;
  constexpr std::array fractions{
      -0.01, 1.0000001, 2.0, -Limits::denorm_min(), Limits::infinity(), Limits::quiet_NaN()};
  Allocator& allocator = face.allocator();
  face.keep([&] { allocator.set_memory_fraction(0, good_); });
  face.refuse([&] { allocator.set_memory_fraction(0, chosen(fractions)); });
  RC_ASSERT(std::abs(allocator.memory_fraction(0) - good_) < 1e-9);
  RC_ASSERT(allocator.memory_fraction(1) == 1.0);
  face.keep([&] { allocator.set_memory_fraction(0, 1.0); });
  RC_ASSERT(allocator.memory_fraction(0) == 1.0);
}

void UnreadableSettings::act(const FaceModel&, Face& face) const {
  static const std::array<std::string, 7> texts{
      "max_split_size_mb",          "max_split_size_mb:many",
      "max_split_size_mb:3",        "garbage_collection_threshold:1.5",
      "roundup_power2_divisions:3", "no_such_key:1",
      "best_fit_tie:youngest"};
  const std::string text = "max_split_size_mb:100," + chosen(texts);
  face.refuse([&] { face.allocator().reconfigure(text); });
  face.keep([&] {
    RC_ASSERT_THROWS_AS(Allocator::from_settings(face.driver(), chosen(texts)), InvalidArgument);
    Options options;
    options.per_process_memory_fraction = 1.5;
    RC_ASSERT_THROWS_AS(Allocator(face.driver(), options), InvalidArgument);
  });
}

void UnchangeableSettings::act(const FaceModel&, Face& face) const {
  static const std::array<std::string, 2> not_yet{"backend:cudaMallocAsync",
                                                  "expandable_segments:True"};
  static const std::array<std::string, 3> fixed{"best_fit_tie:address", "pytorch_defects:True",
                                                "pinned_num_register_threads:4"};
  const bool is_by_id = face.identity() == StreamIdentity::id;
  const std::string identity = is_by_id ? "stream_identity:handle" : "stream_identity:id";
  for (const std::string& change : {chosen(not_yet), chosen(fixed), identity})
    face.refuse<Unsupported>(
        [&] { face.allocator().reconfigure("max_split_size_mb:100," + change); });
  face.keep([&] {
    RC_ASSERT_THROWS_AS(Allocator::from_settings(face.driver(), chosen(not_yet)), Unsupported);
  });
}

void ImpossibleStream::act(const FaceModel& before, Face& face) const {
  constexpr std::array<std::uint64_t, 4> handles{std::uint64_t{1} << 61, std::uint64_t{1} << 62,
                                                 std::uint64_t{1} << 63, ~std::uint64_t{0}};
  Stream stream = as_handle(chosen(handles));
  Allocator& allocator = face.allocator();
  refuse_request(face, {100, 0, stream});
  refuse_forgetting(face, 0, stream);
  if (before.live.empty()) return;
  void* const pointer = face.pointer(0);
  refuse_pointer(face, pointer, stream, Allocator::block_device);
  refuse_pointer(face, pointer, stream, before.live.front().device);
  face.refuse([&] { allocator.free(pointer, before.live.front().size, stream); });
}

void ForgetDefaultStream::act(const FaceModel&, Face& face) const {
  constexpr std::array<std::uint64_t, 3> handles{0, 1, 2};
  refuse_forgetting(face, face_devices - 1, as_handle(chosen(handles)));
}

void DeadPointers::checkPreconditions(const FaceModel& before) const {
  RC_PRE(before.is_freed_last);
}

void DeadPointers::act(const FaceModel&, Face& face) const {
  Allocator& allocator = face.allocator();
  int of_the_host = 0;
  Stream stream = face.handle(0, 1);
  for (void* const pointer : {face.freed(), static_cast<void*>(&of_the_host)}) {
    face.refuse([&] { allocator.free(pointer, 100, stream); });
    try_invalid(face, [&](Error* why) {
      return allocator.try_free(pointer, why) || allocator.try_free(pointer, 100, stream, why);
    });
    refuse_pointer(face, pointer, stream, Allocator::block_device);
    refuse_pointer(face, pointer, stream, 0);
  }
}

void Nothing::act(const FaceModel&, Face& face) const {
  Allocator& allocator = face.allocator();
  Stream stream = face.handle(0, 2);
  face.keep([&] {
    Error why;
    RC_ASSERT((allocator.allocate({0, 0, stream}) == nullptr));
    RC_ASSERT((allocator.try_allocate({0, 0, stream}, &why) == nullptr));
    allocator.free(nullptr);
    allocator.free(nullptr, 7, stream);
    allocator.record_stream(nullptr, stream);
    allocator.free_on(nullptr, stream);
    RC_ASSERT(allocator.try_free(nullptr, &why));
    RC_ASSERT(allocator.try_free(nullptr, 7, stream, &why));
    RC_ASSERT(allocator.try_record_stream(nullptr, stream, 0, &why));
    RC_ASSERT(allocator.try_free_on(nullptr, stream, 0, &why));
    RC_ASSERT(!why);
  });
}

}  // namespace cairn::proptests
