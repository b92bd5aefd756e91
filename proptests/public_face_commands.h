// Commands to a cairn::Allocator on the simulated GPU, and a model of it.
//
// Not thread-safe.
#pragma once

#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <set>
#include <vector>

#include "cairn/allocator.h"
#include "cairn/stats.h"
#include "simulator/simulated_driver.h"
#include "simulator/simulated_gpu.h"

namespace cairn::proptests {

inline constexpr int face_devices = 2;
inline constexpr int face_streams = 3;  // Of each device.

// What a caller knows. There is always memory enough, so that every request succeeds.
struct FaceModel {
  struct Block {
    std::size_t size = 0;
    int device = 0;
    int stream = 0;
    std::set<int> users;  // Other streams, which the allocator was told of.
  };
  std::vector<Block> live;  // The oldest first.
  // Freed by device, and perhaps not known to be done.
  std::array<std::size_t, face_devices> blocks_in_doubt{};
  std::array<std::size_t, face_devices> bytes_in_doubt{};
  bool is_freed_last = false;  // A block was freed, and no request came since.

  void free(std::size_t index);
  void free_on(std::size_t index, int stream);
  void end_doubt();
};

// The allocator and its machine; `pointers` are of the model's blocks.
class Face {
 public:
  explicit Face(const Options& options = {});

  void* allocate(const FaceModel::Block& block, bool tries);
  void take_back(const FaceModel::Block& block, std::size_t index);
  // Work on that stream of the block's device that uses the block, ordered after the block's own.
  void use(const FaceModel::Block& block, std::size_t index, int stream, std::uint64_t ticks);
  void synchronize();
  // The statistics are the model's, and the GPU has seen nothing wrong.
  void check(const FaceModel& model) const;
  // `act` throws InvalidArgument, or what is named, and changes nothing.
  template <class Thrown = InvalidArgument, class Act>
  void refuse(Act&& act) {
    keep([&] { RC_ASSERT_THROWS_AS(act(), Thrown); });
  }
  // `act` changes nothing: neither the statistics nor the map.
  template <class Act>
  void keep(Act&& act) {
    const Picture before = picture();
    act();
    check_same(before);
  }
  void give_all_back(const FaceModel& model);

  Stream handle(int device, int stream) const;
  void* pointer(std::size_t index) const { return pointers_[index]; }
  const std::vector<void*>& pointers() const { return pointers_; }
  void* freed() const { return freed_; }  // The last one.
  simulator::SimulatedGpu& gpu() { return gpu_; }
  Driver& driver() { return driver_; }
  StreamIdentity identity() const { return identity_; }
  Allocator& allocator() { return allocator_; }

 private:
  struct Picture {
    std::vector<DeviceStats> stats;
    std::vector<BlockMap> maps;
  };

  Picture picture() const;
  void check_same(const Picture& before) const;
  StreamRef stream(int device, int index) const {
    return streams_[static_cast<std::size_t>(device * face_streams + index)];
  }

  simulator::SimulatedGpu gpu_{std::vector<simulator::DeviceOptions>(face_devices)};
  simulator::SimulatedDriver driver_{gpu_};
  StreamIdentity identity_;
  Allocator allocator_;
  std::vector<StreamRef> streams_;
  std::vector<void*> pointers_;
  void* freed_ = nullptr;
};

// RapidCheck scales what is drawn by the size of the case, which is that of the list of commands.
template <class T>
T draw(T least, T end) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(least, end));
}

// Draws its values when it is made, acts, and compares with the model after it.
class FaceCommand : public rc::state::Command<FaceModel, Face> {
 public:
  void run(const FaceModel& before, Face& face) const final {
    act(before, face);
    face.check(nextState(before));
  }

 private:
  virtual void act(const FaceModel& before, Face& face) const = 0;
};

// One that means a live block: by its place among them.
class BlockCommand : public FaceCommand {
 public:
  BlockCommand();
  void checkPreconditions(const FaceModel& before) const override;

 protected:
  std::size_t index(const FaceModel& model) const { return block_ % model.live.size(); }
  const FaceModel::Block& block(const FaceModel& model) const { return model.live[index(model)]; }
  void show_block(std::ostream& out, const char* name) const;

 private:
  std::size_t block_;
};

class Allocate final : public FaceCommand {
 public:
  Allocate();
  void apply(FaceModel& model) const override;
  void show(std::ostream& out) const override;

 private:
  void act(const FaceModel& before, Face& face) const override;

  FaceModel::Block block_;
  bool tries_;
};

class FreeBlock final : public BlockCommand {
 public:
  void apply(FaceModel& model) const override { model.free(index(model)); }
  void show(std::ostream& out) const override { show_block(out, "free"); }

 private:
  void act(const FaceModel& before, Face& face) const override;
};

// With the right size and stream, or with a wrong one.
class CheckedFree final : public BlockCommand {
 public:
  CheckedFree();
  void apply(FaceModel& model) const override;
  void show(std::ostream& out) const override;

 private:
  enum class Wrong { nothing, size, stream };
  void act(const FaceModel& before, Face& face) const override;

  Wrong wrong_;
};

class FreeOn final : public BlockCommand {
 public:
  FreeOn();
  void apply(FaceModel& model) const override { model.free_on(index(model), stream_); }
  void show(std::ostream& out) const override;

 private:
  void act(const FaceModel& before, Face& face) const override;

  int stream_;
  std::uint64_t ticks_;
};

class RecordStream final : public BlockCommand {
 public:
  RecordStream();
  void apply(FaceModel& model) const override;
  void show(std::ostream& out) const override;

 private:
  void act(const FaceModel& before, Face& face) const override;

  int stream_;
  std::uint64_t ticks_;
};

// On the block's own stream, of which the allocator need not be told.
class LaunchWork final : public BlockCommand {
 public:
  LaunchWork();
  void show(std::ostream& out) const override;

 private:
  void act(const FaceModel& before, Face& face) const override;

  std::uint64_t ticks_;
};

class Advance final : public FaceCommand {
 public:
  Advance();
  void show(std::ostream& out) const override;

 private:
  void act(const FaceModel& before, Face& face) const override;

  std::uint64_t ticks_;
};

class ProcessEvents final : public FaceCommand {
 public:
  void show(std::ostream& out) const override;

 private:
  void act(const FaceModel& before, Face& face) const override;
};

// The caller waits for both devices; then nothing is pending.
class Synchronize final : public FaceCommand {
 public:
  void apply(FaceModel& model) const override { model.end_doubt(); }
  void show(std::ostream& out) const override;

 private:
  void act(const FaceModel& before, Face& face) const override;
};

class EmptyCache final : public FaceCommand {
 public:
  void apply(FaceModel& model) const override { model.end_doubt(); }
  void show(std::ostream& out) const override;

 private:
  void act(const FaceModel& before, Face& face) const override;
};

// What was freed last is freed, used and freed on a stream once more.
class DoubleFree final : public FaceCommand {
 public:
  void checkPreconditions(const FaceModel& before) const override;
  void show(std::ostream& out) const override;

 private:
  void act(const FaceModel& before, Face& face) const override;
};

// An address inside a block, and one of the host.
class ForeignFree final : public BlockCommand {
 public:
  void show(std::ostream& out) const override { show_block(out, "foreign free"); }

 private:
  void act(const FaceModel& before, Face& face) const override;
};

}  // namespace cairn::proptests
