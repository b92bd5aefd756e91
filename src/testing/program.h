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

// ---- before the first operation ----
struct GpuDecl {
  DeviceIndex device = 0;
  Bytes memory{std::uint64_t{80} << 30};
  bool adjacent = false;
  bool reuse_addresses = false;
};
struct Conf {
  std::string text;
};
struct SegmentDecl {
  Address address;
  Bytes size;
  PoolKind pool = PoolKind::small;
  std::string stream;
  std::optional<DeviceIndex> gpu;
};
struct BlockDecl {
  std::optional<std::string> name;  // None: a free block.
  Bytes size;
};

// ---- the simulated world ----
struct Fault {
  DriverCall call = DriverCall::malloc;
  std::uint64_t at = 1;
  CudaStatus error = CudaStatus::out_of_memory;
  std::optional<std::uint64_t> count = 1;  // None: forever.
  bool sticky = false;
};
struct NextSegment {
  Address address;
};
struct SetDevice {
  DeviceIndex device = 0;
};
struct MakeStream {
  std::string stream;
  std::optional<DeviceIndex> gpu;
  bool blocking = false;
  std::optional<std::string> reuse;
};
struct DestroyStream {
  std::string stream;
  bool unannounced = false;
};
struct Touch {
  std::string name;
  bool read_only = false;
};
struct Launch {
  std::string stream;
  std::vector<Touch> touches;
  std::uint64_t ticks = 0;
};
struct Order {
  std::string before;  // All later work on `after` waits for the work now on `before`.
  std::string after;
};
struct Advance {
  std::uint64_t ticks = 0;
};
struct Sync {
  std::optional<std::string> stream;  // None: the device.
};

// ---- the allocator's operations ----
struct Alloc {
  std::string name;
  Bytes size;
  std::string stream = "s0";
  std::optional<Bytes> align;
  std::optional<Address> expected;  // `= 0x...`: the address must be this.
};
struct AllocAt {
  std::string name;
  Bytes size;
  std::string stream;
  Address address;
};
struct NamedTarget {
  std::string name;
  Bytes offset;
};
struct NullTarget {};
struct Free {
  std::variant<NamedTarget, Address, NullTarget> target;
  std::optional<std::string> on;
  std::optional<Bytes> size;
  std::optional<std::string> stream;
};
struct Use {
  std::string name;
  std::string stream;
};
struct Poll {};
struct EmptyCache {
  std::optional<std::string> pool;
};
struct MemoryFraction {
  double fraction = 1.0;
};
struct Reconfigure {
  std::string text;
};
struct MakePool {
  std::string pool;
  bool no_split = false;
  bool use_on_oom = false;
  bool source = false;
};
struct EnterPool {
  std::string pool;
};
struct LeavePool {
  std::string pool;
};
struct ReleasePool {
  std::string pool;
};
enum class CaptureMode { global, thread_local_mode, relaxed };
struct CaptureBegin {
  std::string graph;
  std::string stream;
  std::optional<std::string> pool;
  std::optional<CaptureMode> mode;
};
struct CaptureEnd {
  std::string graph;
};
struct Replay {
  std::string graph;
  std::string stream;
};
struct DestroyGraph {
  std::string graph;
};
struct Checkpoint {
  std::string checkpoint;
  std::string pool;
};
struct Restore {
  std::string checkpoint;
};
struct Peer {
  DeviceIndex device = 0;
  DeviceIndex of = 0;  // `device` may access the memory of `of`.
};
struct Share {
  std::string name;
  std::string handle;
};
struct Open {
  std::string handle;
  std::string name;
};
struct Close {
  std::string name;
};
struct ThreadExit {};

// ---- threads ----
struct During {
  DriverCall call = DriverCall::malloc;
  std::uint64_t at = 1;
  std::vector<Statement> body;
};
struct Parallel {
  std::vector<Statement> body;
};
struct Schedule {
  std::vector<int> threads;
};

// ---- what must be true ----
enum class ResetWhat { calls, peak, accumulated };
struct Reset {
  ResetWhat what = ResetWhat::calls;
};
enum class Comparison { equal, not_equal, less, less_equal, greater, greater_equal };
// One term of a sum: a number (a size, an address, a count) where `query` is empty; else a query
// such as `reserved`, with what stands in its brackets (`small`, `a`, `malloc`) and after its `@`.
struct Term {
  bool negative = false;
  std::uint64_t number = 0;
  bool number_is_address = false;  // Written with 0x; only for printing.
  std::string query;
  std::string argument;
  std::optional<DeviceIndex> device;
};
struct Expect {
  std::vector<Term> left;
  Comparison comparison = Comparison::equal;
  std::vector<Term> right;
};
// `expect_segment 0x7e0000000000 20MiB large s0 [gpu=1]`: such a segment exists, and its blocks are
// those of the `expect_block` lines that follow, in order of address, and no other.
struct ExpectSegment {
  Address address;
  Bytes size;
  PoolKind pool = PoolKind::small;
  std::string stream;
  std::optional<DeviceIndex> gpu;
};
// `expect_block 4MiB active_allocated [requested=4190208]`
struct ExpectBlock {
  Bytes size;
  BlockState state = BlockState::inactive;
  std::optional<Bytes> requested;
};

using Operation =
    std::variant<GpuDecl, Conf, SegmentDecl, BlockDecl, Fault, NextSegment, SetDevice, MakeStream,
                 DestroyStream, Launch, Order, Advance, Sync, Alloc, AllocAt, Free, Use, Poll,
                 EmptyCache, MemoryFraction, Reconfigure, MakePool, EnterPool, LeavePool,
                 ReleasePool, CaptureBegin, CaptureEnd, Replay, DestroyGraph, Checkpoint, Restore,
                 Peer, Share, Open, Close, ThreadExit, During, Parallel, Schedule, Reset, Expect,
                 ExpectSegment, ExpectBlock>;

struct Statement {
  int line = 0;               // From 1; 0 where the statement was never text.
  std::optional<int> thread;  // `T1:` is 1; none: the main thread.
  Operation operation;
  ErrorCode expected = ErrorCode::none;  // ` -> out_of_memory`: it must fail so.
};

struct Program {
  std::vector<Statement> statements;
};

}  // namespace cairn::testing
