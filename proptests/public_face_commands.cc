#include "public_face_commands.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <ostream>

#include "testing/difference.h"

namespace cairn::proptests {
namespace {

int draw_stream() { return draw(0, face_streams); }
std::uint64_t draw_ticks() { return draw<std::uint64_t>(0, 50); }

Span span_of(const void* pointer, std::size_t size) {
  return {Address{reinterpret_cast<std::uintptr_t>(pointer)}, Bytes{size}};
}

std::int64_t as_stat(std::size_t count) { return static_cast<std::int64_t>(count); }

bool is_between(std::int64_t value, std::size_t least, std::size_t doubt) {
  return as_stat(least) <= value && value <= as_stat(least + doubt);
}

}  // namespace

// ---- the model ----

void FaceModel::free(std::size_t index) {
  const Block& block = live[index];
  if (!block.users.empty()) {
    ++blocks_in_doubt[static_cast<std::size_t>(block.device)];
    bytes_in_doubt[static_cast<std::size_t>(block.device)] += block.size;
  }
  live.erase(live.begin() + static_cast<std::ptrdiff_t>(index));
  is_freed_last = true;
}

void FaceModel::free_on(std::size_t index, int stream) {
  if (stream != live[index].stream) live[index].users.insert(stream);
  free(index);
}

void FaceModel::end_doubt() {
  blocks_in_doubt.fill(0);
  bytes_in_doubt.fill(0);
}

// ---- the allocator ----

Face::Face(const Options& options)
    : identity_(options.stream_identity), allocator_(driver_, options) {
  for (int device = 0; device < face_devices; ++device) {
    for (int i = 0; i < face_streams; ++i) {
      simulator::StreamOptions made;
      made.device = device;
      streams_.push_back(*gpu_.make_stream(made));
    }
  }
}

Stream Face::handle(int device, int index) const {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA's handles are such pointers.
  return reinterpret_cast<Stream>(static_cast<std::uintptr_t>(stream(device, index).handle));
}

void* Face::allocate(const FaceModel::Block& block, bool tries) {
  const Request request{block.size, block.device, handle(block.device, block.stream)};
  void* const pointer = tries ? allocator_.try_allocate(request) : allocator_.allocate(request);
  pointers_.push_back(pointer);
  gpu_.hand_out(block.device, span_of(pointer, block.size),
                gpu_.identify(stream(block.device, block.stream)));
  return pointer;
}

void Face::take_back(const FaceModel::Block& block, std::size_t index) {
  std::vector<simulator::StreamNumber> users;
  users.reserve(block.users.size());
  for (const int user : block.users) users.push_back(gpu_.identify(stream(block.device, user)));
  freed_ = pointers_[index];
  gpu_.take_back(block.device, span_of(freed_, block.size), users);
  pointers_.erase(pointers_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Face::use(const FaceModel::Block& block, std::size_t index, int user, std::uint64_t ticks) {
  const StreamRef on = stream(block.device, user);
  if (user != block.stream)
    RC_ASSERT(static_cast<bool>(gpu_.order(stream(block.device, block.stream), on)));
  const simulator::Touch touch{block.device, span_of(pointers_[index], block.size), false};
  RC_ASSERT(static_cast<bool>(gpu_.launch(on, {touch}, ticks)));
}

void Face::synchronize() {
  for (int device = 0; device < face_devices; ++device) {
    RC_ASSERT(static_cast<bool>(gpu_.synchronize(device)));
    allocator_.process_events(device);
  }
}

void Face::check(const FaceModel& model) const {
  for (int device = 0; device < face_devices; ++device) {
    std::size_t blocks = 0;
    std::size_t bytes = 0;
    for (const FaceModel::Block& block : model.live) {
      if (block.device != device) continue;
      ++blocks;
      bytes += block.size;
    }
    const DeviceStats stats = allocator_.stats(device);
    const auto at = static_cast<std::size_t>(device);
    RC_ASSERT(stats.allocation.all.current == as_stat(blocks));
    RC_ASSERT(is_between(stats.active.all.current, blocks, model.blocks_in_doubt[at]));
    RC_ASSERT(is_between(stats.requested_bytes.all.current, bytes, model.bytes_in_doubt[at]));
    RC_ASSERT(stats.allocated_bytes.all.current >= as_stat(bytes));
    RC_ASSERT(stats.reserved_bytes.all.current >= stats.active_bytes.all.current);
    RC_ASSERT(stats.num_ooms == 0);
    RC_ASSERT(gpu_.overlaps(device) == 0u);
  }
  if (gpu_.violation_count() != 0) RC_FAIL(gpu_.violations().front().message);
  RC_ASSERT(gpu_.mistakes().empty());
}

Face::Picture Face::picture() const {
  Picture now;
  for (int device = 0; device < face_devices; ++device) {
    now.stats.push_back(allocator_.stats(device));
    now.maps.push_back(allocator_.block_map(device));
  }
  return now;
}

void Face::check_same(const Picture& before) const {
  const Picture now = picture();
  RC_ASSERT(now.stats == before.stats);
  for (std::size_t device = 0; device < now.maps.size(); ++device)
    RC_ASSERT(!testing::compare(before.maps[device], now.maps[device]));
}

void Face::give_all_back(const FaceModel& model) {
  synchronize();
  for (const FaceModel::Block& block : model.live) {
    void* const pointer = pointers_.front();
    allocator_.free(pointer);
    take_back(block, 0);
  }
  synchronize();
  allocator_.empty_cache();
  FaceModel nothing;
  check(nothing);
  for (int device = 0; device < face_devices; ++device) {
    RC_ASSERT(allocator_.stats(device).reserved_bytes.all.current == 0);
    RC_ASSERT(allocator_.stats(device).active.all.current == 0);
    RC_ASSERT(allocator_.block_map(device).empty());
    RC_ASSERT(gpu_.device_free(device) == gpu_.mem_info(device)->total);
  }
}

// ---- the commands ----

BlockCommand::BlockCommand() : block_(draw<std::size_t>(0, 100)) {}

void BlockCommand::checkPreconditions(const FaceModel& before) const {
  RC_PRE(!before.live.empty());
}

void BlockCommand::show_block(std::ostream& out, const char* name) const {
  out << name << " block " << block_;
}

Allocate::Allocate() {
  constexpr std::array<std::size_t, 5> ends{600, 5000, 2 << 20, 12 << 20, 25 << 20};
  const std::size_t end = ends.at(draw<std::size_t>(0, ends.size()));
  block_.size = draw<std::size_t>(1, end);
  block_.device = draw(0, face_devices);
  block_.stream = draw_stream();
  tries_ = draw(0, 2) == 1;
}

void Allocate::apply(FaceModel& model) const {
  model.live.push_back(block_);
  model.is_freed_last = false;
}

void Allocate::show(std::ostream& out) const {
  out << "allocate " << block_.size << " bytes, device " << block_.device << ", stream "
      << block_.stream;
}

void Allocate::act(const FaceModel& before, Face& face) const {
  const void* const pointer = face.allocate(block_, tries_);
  if (pointer == nullptr) RC_FAIL("a null pointer");
  RC_ASSERT(reinterpret_cast<std::uintptr_t>(pointer) % 512 == 0u);
  for (std::size_t i = 0; i < before.live.size(); ++i)
    if (face.pointer(i) == pointer) RC_FAIL("the address of a live block");
}

void FreeBlock::act(const FaceModel& before, Face& face) const {
  face.allocator().free(face.pointer(index(before)));
  face.take_back(block(before), index(before));
}

CheckedFree::CheckedFree() : wrong_(static_cast<Wrong>(draw(0, 3))) {}

void CheckedFree::apply(FaceModel& model) const {
  if (wrong_ == Wrong::nothing) model.free(index(model));
}

void CheckedFree::show(std::ostream& out) const {
  show_block(out, "checked free of");
  if (wrong_ != Wrong::nothing) out << ", wrong " << (wrong_ == Wrong::size ? "size" : "stream");
}

void CheckedFree::act(const FaceModel& before, Face& face) const {
  const FaceModel::Block& freed = block(before);
  void* const pointer = face.pointer(index(before));
  Stream own = face.handle(freed.device, freed.stream);
  Stream other = face.handle(freed.device, (freed.stream + 1) % face_streams);
  switch (wrong_) {
    case Wrong::nothing:
      face.allocator().free(pointer, freed.size, own);
      return face.take_back(freed, index(before));
    case Wrong::size:
      return face.refuse([&] { face.allocator().free(pointer, freed.size + 1, own); });
    case Wrong::stream:
      return face.refuse([&] { face.allocator().free(pointer, freed.size, other); });
  }
}

FreeOn::FreeOn() : stream_(draw_stream()), ticks_(draw_ticks()) {}

void FreeOn::show(std::ostream& out) const {
  show_block(out, "free of");
  out << " on stream " << stream_ << " after " << ticks_ << " ticks";
}

void FreeOn::act(const FaceModel& before, Face& face) const {
  FaceModel::Block freed = block(before);
  face.use(freed, index(before), stream_, ticks_);
  face.allocator().free_on(face.pointer(index(before)), face.handle(freed.device, stream_));
  freed.users.insert(stream_);
  face.take_back(freed, index(before));
}

RecordStream::RecordStream() : stream_(draw_stream()), ticks_(draw_ticks()) {}

void RecordStream::apply(FaceModel& model) const {
  FaceModel::Block& used = model.live[index(model)];
  if (stream_ != used.stream) used.users.insert(stream_);
}

void RecordStream::show(std::ostream& out) const {
  show_block(out, "use of");
  out << " by stream " << stream_ << " for " << ticks_ << " ticks";
}

void RecordStream::act(const FaceModel& before, Face& face) const {
  const FaceModel::Block& used = block(before);
  face.use(used, index(before), stream_, ticks_);
  face.allocator().record_stream(face.pointer(index(before)), face.handle(used.device, stream_));
}

LaunchWork::LaunchWork() : ticks_(draw_ticks()) {}

void LaunchWork::show(std::ostream& out) const {
  show_block(out, "work on");
  out << " for " << ticks_ << " ticks";
}

void LaunchWork::act(const FaceModel& before, Face& face) const {
  face.use(block(before), index(before), block(before).stream, ticks_);
}

Advance::Advance() : ticks_(draw_ticks()) {}

void Advance::show(std::ostream& out) const { out << "advance " << ticks_; }

void Advance::act(const FaceModel&, Face& face) const { face.gpu().advance(ticks_); }

void ProcessEvents::show(std::ostream& out) const { out << "process events"; }

void ProcessEvents::act(const FaceModel&, Face& face) const {
  for (int device = 0; device < face_devices; ++device) face.allocator().process_events(device);
}

void Synchronize::show(std::ostream& out) const { out << "synchronize"; }

void Synchronize::act(const FaceModel&, Face& face) const { face.synchronize(); }

void EmptyCache::show(std::ostream& out) const { out << "empty cache"; }

void EmptyCache::act(const FaceModel&, Face& face) const { face.allocator().empty_cache(); }

void DoubleFree::checkPreconditions(const FaceModel& before) const { RC_PRE(before.is_freed_last); }

void DoubleFree::show(std::ostream& out) const { out << "double free"; }

void DoubleFree::act(const FaceModel&, Face& face) const {
  Allocator& allocator = face.allocator();
  Stream stream = face.handle(0, 0);
  face.refuse([&] { allocator.free(face.freed()); });
  face.refuse([&] { allocator.free_on(face.freed(), stream, 0); });
  face.refuse([&] { allocator.record_stream(face.freed(), stream, 0); });
}

void ForeignFree::act(const FaceModel& before, Face& face) const {
  Allocator& allocator = face.allocator();
  char* const start = static_cast<char*>(face.pointer(index(before)));
  if (block(before).size > 1) face.refuse([&] { allocator.free(start + block(before).size / 2); });
  int of_the_host = 0;
  face.refuse([&] { allocator.free(&of_the_host); });
}

}  // namespace cairn::proptests
