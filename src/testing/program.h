// A Program: what a fuzzer, a property, a recorded trace or a bug report makes of itself, as data.
// The text form and its meanings are in README.md beside this file. One statement a line; the names
// in a Program are its own (`a`, `s1`, `P`), never addresses or handles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/block_map.h"
#include "cairn/errors.h"
#include "driver/cuda_status.h"
#include "driver/driver_call.h"

namespace cairn::testing {

struct Statement;

// What a Program can speak of at most.
inline constexpr DeviceIndex most_devices = 64;
inline constexpr Bytes most_memory{std::uint64_t{1} << 40};  // Devices' addresses lie so far apart.
inline constexpr int highest_thread = 255;

// ---- before the first operation ----
struct GpuDecl {
  DeviceIndex device = 0;
  Bytes memory = Bytes{80} * (std::uint64_t{1} << 30);
  bool adjacent = false;
  bool reuse_addresses = false;
  bool operator==(const GpuDecl&) const = default;
};
struct Conf {
  std::string text;
  bool operator==(const Conf&) const = default;
};
struct SegmentDecl {
  Address address;
  Bytes size;
  PoolKind pool = PoolKind::small;
  std::string stream;
  std::optional<DeviceIndex> gpu;
  bool operator==(const SegmentDecl&) const = default;
};
struct BlockDecl {
  std::optional<std::string> name;  // None: a free block.
  Bytes size;
  bool operator==(const BlockDecl&) const = default;
};

// ---- the simulated world ----
struct Fault {
  DriverCall call = DriverCall::malloc;
  std::uint64_t at = 1;
  CudaStatus error = CudaStatus::out_of_memory;
  std::optional<std::uint64_t> count = 1;  // None: forever.
  bool sticky = false;
  bool operator==(const Fault&) const = default;
};
struct NextSegment {
  Address address;
  bool operator==(const NextSegment&) const = default;
};
struct SetDevice {
  DeviceIndex device = 0;
  bool operator==(const SetDevice&) const = default;
};
struct MakeStream {
  std::string stream;
  std::optional<DeviceIndex> gpu;
  bool blocking = false;
  std::optional<std::string> reuse;
  bool operator==(const MakeStream&) const = default;
};
struct DestroyStream {
  std::string stream;
  bool unannounced = false;
  bool operator==(const DestroyStream&) const = default;
};
struct Touch {
  std::string name;
  bool read_only = false;
  bool operator==(const Touch&) const = default;
};
struct Launch {
  std::string stream;
  std::vector<Touch> touches;
  std::uint64_t ticks = 0;
  bool operator==(const Launch&) const = default;
};
struct Order {
  std::string before;  // All later work on `after` waits for the work now on `before`.
  std::string after;
  bool operator==(const Order&) const = default;
};
struct Advance {
  std::uint64_t ticks = 0;
  bool operator==(const Advance&) const = default;
};
struct Sync {
  std::optional<std::string> stream;  // None: the device.
  std::optional<DeviceIndex> gpu;
  bool operator==(const Sync&) const = default;
};

// ---- the allocator's operations ----
struct Alloc {
  std::string name;
  Bytes size;
  std::string stream = "s0";
  std::optional<Bytes> align;
  std::optional<Address> expected;  // `= 0x...`: the address must be this.
  bool operator==(const Alloc&) const = default;
};
struct AllocAt {
  std::string name;
  Bytes size;
  std::string stream;
  Address address;
  bool operator==(const AllocAt&) const = default;
};
struct NamedTarget {
  std::string name;
  Bytes offset;
  bool operator==(const NamedTarget&) const = default;
};
struct NullTarget {
  bool operator==(const NullTarget&) const = default;
};
struct Free {
  std::variant<NamedTarget, Address, NullTarget> target;
  std::optional<std::string> on;
  std::optional<Bytes> size;
  std::optional<std::string> stream;
  bool operator==(const Free&) const = default;
};
struct Use {
  std::string name;
  std::string stream;
  bool operator==(const Use&) const = default;
};
struct Poll {
  bool operator==(const Poll&) const = default;
};
struct EmptyCache {
  std::optional<std::string> pool;
  bool operator==(const EmptyCache&) const = default;
};
struct MemoryFraction {
  double fraction = 1.0;
  std::optional<DeviceIndex> gpu;
  bool operator==(const MemoryFraction&) const = default;
};
struct Reconfigure {
  std::string text;
  bool operator==(const Reconfigure&) const = default;
};
struct MakePool {
  std::string pool;
  bool no_split = false;
  bool use_on_oom = false;
  bool source = false;
  bool operator==(const MakePool&) const = default;
};
struct EnterPool {
  std::string pool;
  bool operator==(const EnterPool&) const = default;
};
struct LeavePool {
  std::string pool;
  bool operator==(const LeavePool&) const = default;
};
struct ReleasePool {
  std::string pool;
  bool operator==(const ReleasePool&) const = default;
};
enum class CaptureMode { global, thread_local_mode, relaxed };
struct CaptureBegin {
  std::string graph;
  std::string stream;
  std::optional<std::string> pool;
  std::optional<CaptureMode> mode;
  bool operator==(const CaptureBegin&) const = default;
};
struct CaptureEnd {
  std::string graph;
  bool operator==(const CaptureEnd&) const = default;
};
struct Replay {
  std::string graph;
  std::string stream;
  bool operator==(const Replay&) const = default;
};
struct DestroyGraph {
  std::string graph;
  bool operator==(const DestroyGraph&) const = default;
};
struct Checkpoint {
  std::string checkpoint;
  std::string pool;
  bool operator==(const Checkpoint&) const = default;
};
struct Restore {
  std::string checkpoint;
  bool operator==(const Restore&) const = default;
};
struct Peer {
  DeviceIndex device = 0;
  DeviceIndex of = 0;  // `device` may access the memory of `of`.
  bool operator==(const Peer&) const = default;
};
struct Share {
  std::string name;
  std::string handle;
  bool operator==(const Share&) const = default;
};
struct Open {
  std::string handle;
  std::string name;
  bool operator==(const Open&) const = default;
};
struct Close {
  std::string name;
  bool operator==(const Close&) const = default;
};
struct ThreadExit {
  bool operator==(const ThreadExit&) const = default;
};

// ---- threads ----
struct During {
  DriverCall call = DriverCall::malloc;
  std::uint64_t at = 1;
  std::vector<Statement> body;
  friend bool operator==(const During& a, const During& b);
};
struct Parallel {
  std::vector<Statement> body;
  friend bool operator==(const Parallel& a, const Parallel& b);
};
struct Schedule {
  std::vector<int> threads;
  bool operator==(const Schedule&) const = default;
};

// ---- what must be true ----
enum class ResetWhat { calls, peak, accumulated };
struct Reset {
  ResetWhat what = ResetWhat::calls;
  bool operator==(const Reset&) const = default;
};
enum class Comparison { equal, not_equal, less, less_equal, greater, greater_equal };
// One term of a sum: a query such as `reserved`, with what stands in its brackets (`small`, `a`,
// `malloc`, `allocated,small`) and after its `@`. Where `query` is empty: the handle of the stream
// that `argument` names; and where that is empty too, a number (a size, an address, a count).
struct Term {
  bool negative = false;
  std::uint64_t number = 0;
  bool number_is_address = false;  // Written with 0x; only for printing.
  std::string query;
  std::string argument;
  std::optional<DeviceIndex> device;
  bool operator==(const Term&) const = default;
};
struct Expect {
  std::vector<Term> left;
  Comparison comparison = Comparison::equal;
  std::vector<Term> right;
  bool operator==(const Expect&) const = default;
};
// `expect_segment 0x7e0000000000 20MiB large s0 [gpu=1]`: such a segment exists, and its blocks are
// those of the `expect_block` lines that follow, in order of address, and no other.
struct ExpectSegment {
  Address address;
  Bytes size;
  PoolKind pool = PoolKind::small;
  std::string stream;
  std::optional<DeviceIndex> gpu;
  bool operator==(const ExpectSegment&) const = default;
};
// `expect_block 4MiB active_allocated [requested=4190208]`
struct ExpectBlock {
  Bytes size;
  BlockState state = BlockState::inactive;
  std::optional<Bytes> requested;
  bool operator==(const ExpectBlock&) const = default;
};

using Operation =
    std::variant<GpuDecl, Conf, SegmentDecl, BlockDecl, Fault, NextSegment, SetDevice, MakeStream,
                 DestroyStream, Launch, Order, Advance, Sync, Alloc, AllocAt, Free, Use, Poll,
                 EmptyCache, MemoryFraction, Reconfigure, MakePool, EnterPool, LeavePool,
                 ReleasePool, CaptureBegin, CaptureEnd, Replay, DestroyGraph, Checkpoint, Restore,
                 Peer, Share, Open, Close, ThreadExit, During, Parallel, Schedule, Reset, Expect,
                 ExpectSegment, ExpectBlock>;

// Made, copied, moved and compared in program.cc: that is code for each of 43 kinds, which every
// file that holds a Program would else compile again.
struct Statement {
  int line = 0;               // From 1; 0 where the statement was never text.
  int column = 0;             // Of its first word after `T1:`, from 1; 0 likewise.
  std::optional<int> thread;  // `T1:` is 1; none: the main thread.
  Operation operation;
  ErrorCode expected = ErrorCode::none;  // ` -> out_of_memory`: it must fail so.

  Statement();
  Statement(const Statement& other);
  Statement(Statement&& other) noexcept;
  Statement& operator=(const Statement& other);
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();
  // Where it stood in a text is no part of what a statement is.
  friend bool operator==(const Statement& a, const Statement& b);
};

struct Program {
  std::vector<Statement> statements;
  bool operator==(const Program&) const = default;
};

}  // namespace cairn::testing
