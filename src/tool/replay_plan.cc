#include "tool/replay_plan.h"

#include <unordered_map>
#include <unordered_set>

#include "testing/declarations.h"
#include "testing/printer.h"

namespace cairn::tool {
namespace {

using testing::Statement;

class Planner {
 public:
  Result<ReplayPlan, ReplayRefusal> plan(const testing::Program& program) {
    settings_ = testing::read_settings(program);
    plan_.options = settings_.options;
    plan_.devices = testing::declared_devices(program);
    for (const Statement& statement : program.statements) {
      line_ = statement.line;
      thread_ = statement.thread.value_or(0);
      expected_ = statement.expected;
      std::visit([this](const auto& operation) { add(operation); }, statement.operation);
      if (refusal_) return Failure{*refusal_};
    }
    return std::move(plan_);
  }

 private:
  // ---- declarations ----
  void add(const testing::GpuDecl&) {}
  void add(const testing::Conf&) {
    const std::size_t index = confs_++;
    if (!settings_.fault || settings_.fault->first != index) return;
    const testing::StepResult& fault = settings_.fault->second;
    const bool is_mistake = fault.kind == testing::StepResult::Kind::mistake;
    refuse(is_mistake ? ExitCode::bad_input : ExitCode::unsupported, fault.why);
  }
  void add(const testing::SegmentDecl& segment) {
    const DeviceIndex device = segment.gpu.value_or(device_of_thread_[thread_]);
    if (!exists(device)) return;
    const SegmentLayout layout{{segment.address, segment.size}, segment.pool, {}, {}};
    plan_.segments.push_back({device, layout, stream(device, segment.stream), {}});
  }
  void add(const testing::BlockDecl& block) {
    ReplaySegment& segment = plan_.segments.back();
    segment.layout.blocks.push_back({block.size, block.name.has_value()});
    if (!block.name) return;
    segment.slots.push_back(slot_for(*block.name));
    asked_.back() = {block.size, segment.device, segment.stream};
    live_.insert(*block.name);
  }

  // ---- operations ----
  void add(const testing::NextSegment& next) {
    ReplayOperation& operation = append(ReplayOperation::Kind::next_segment);
    operation.address = next.address;
  }
  void add(const testing::SetDevice& set) {
    if (!exists(set.device)) return;
    device_of_thread_[thread_] = set.device;
  }
  void add(const testing::Alloc& alloc) {
    if (expected_ != ErrorCode::none && expected_ != ErrorCode::out_of_memory) {
      return refuse(ExitCode::unsupported, "only -> out_of_memory can be replayed");
    }
    const bool must_fail = expected_ == ErrorCode::out_of_memory;
    const std::uint32_t slot = must_fail ? new_slot(alloc.name) : slot_for(alloc.name);
    if (!must_fail && alloc.size != Bytes{0}) live_.insert(alloc.name);
    ReplayOperation& operation = append(ReplayOperation::Kind::alloc);
    operation.must_fail = must_fail;
    operation.slot = slot;
    operation.size = alloc.size;
    operation.alignment = alloc.align.value_or(operation.alignment);
    operation.stream = stream(operation.device, alloc.stream);
    operation.address = alloc.expected.value_or(Address{});
    asked_[slot] = {operation.size, operation.device, operation.stream};
  }
  void add(const testing::Free& free) {
    if (std::holds_alternative<testing::NullTarget>(free.target)) return skip("free null");
    const auto* const named = std::get_if<testing::NamedTarget>(&free.target);
    if (named == nullptr || named->offset.count != 0 || expected_ != ErrorCode::none) {
      return refuse(ExitCode::unsupported, "only frees of names that succeed can be replayed");
    }
    const auto found = slots_.find(named->name);
    if (found == slots_.end()) {
      return refuse(ExitCode::bad_input, "'" + named->name + "' names nothing");
    }
    const bool is_checked = free.size || free.stream;
    if (free.on && is_checked) {
      return refuse(ExitCode::unsupported, "`on` of a checked free is not supported");
    }
    if (free.on) add(testing::Use{named->name, *free.on});
    // Of a check that says one thing alone, the other is as it was asked for.
    const Asked& asked = asked_[found->second];
    ReplayOperation& operation = append(ReplayOperation::Kind::free);
    operation.slot = found->second;
    operation.is_checked = is_checked;
    operation.size = free.size.value_or(asked.size);
    operation.stream = free.stream ? stream(asked.device, *free.stream) : asked.stream;
    live_.erase(named->name);
  }
  void add(const testing::Use& use) {
    const auto found = slots_.find(use.name);
    if (found == slots_.end() || expected_ != ErrorCode::none) {
      return refuse(ExitCode::unsupported, "only uses of known names that succeed can be replayed");
    }
    ReplayOperation& operation = append(ReplayOperation::Kind::use);
    operation.slot = found->second;
    operation.stream = stream(operation.device, use.stream);
  }
  void add(const testing::EmptyCache& empty) {
    if (empty.pool) return refuse(ExitCode::unsupported, "private pools cannot be replayed");
    append(ReplayOperation::Kind::empty_cache);
  }

  // ---- what the allocator never sees ----
  void add(const testing::MakeStream&) { skip("streams made"); }
  void add(const testing::Launch&) { skip("kernels"); }
  void add(const testing::Order&) { skip("orders of streams"); }
  void add(const testing::Sync&) { skip("synchronisations"); }
  void add(const testing::Advance&) { skip("advances of virtual time"); }
  void add(const testing::Reset&) { skip("resets"); }
  void add(const testing::Expect&) { skip("expectations"); }
  void add(const testing::ExpectSegment&) { skip("expectations"); }
  void add(const testing::ExpectBlock&) { skip("expectations"); }

  template <class Other>
  void add(const Other& other) {
    Statement statement;
    statement.operation = other;
    const std::string text = testing::print_statement(statement);
    refuse(ExitCode::unsupported, "'" + text.substr(0, text.find('\n')) + "' cannot be replayed");
  }

  void skip(const char* what) { ++plan_.skipped[what]; }
  void refuse(ExitCode code, std::string why) { refusal_ = {code, line_, std::move(why)}; }

  bool exists(DeviceIndex device) {
    if (static_cast<std::size_t>(device) < plan_.devices.size()) return true;
    refuse(ExitCode::bad_input, "there is no device " + std::to_string(device));
    return false;
  }
  ReplayOperation& append(ReplayOperation::Kind kind) {
    ReplayOperation operation;
    operation.kind = kind;
    operation.line = line_;
    operation.device = device_of_thread_[thread_];
    plan_.operations.push_back(operation);
    return plan_.operations.back();
  }
  std::uint32_t slot_for(const std::string& name) {
    if (live_.contains(name)) {
      refuse(ExitCode::bad_input, "'" + name + "' is live; free it first");
    }
    return slots_[name] = new_slot(name);
  }
  std::uint32_t new_slot(const std::string& name) {
    plan_.slot_names.push_back(name);
    asked_.emplace_back();
    return static_cast<std::uint32_t>(plan_.slot_names.size() - 1);
  }
  // Per-thread default streams are streams of their own, as many as there are threads.
  std::size_t stream(DeviceIndex device, const std::string& name) {
    if (name == "s0") return 0;
    const std::string full =
        std::to_string(device) + " " + name + (name == "ptds" ? " " + std::to_string(thread_) : "");
    const auto [found, is_new] = streams_.emplace(full, plan_.streams.size());
    if (is_new) {
      plan_.streams.push_back(device);
      plan_.stream_names.push_back(name == "ptds" ? "T" + std::to_string(thread_) + " ptds" : name);
    }
    return found->second;
  }

  struct Asked {
    Bytes size;
    DeviceIndex device = 0;
    std::size_t stream = 0;  // Of the plan's streams.
  };

  ReplayPlan plan_;
  std::vector<Asked> asked_;  // By slot.
  std::optional<ReplayRefusal> refusal_;
  int line_ = 0;
  int thread_ = 0;
  testing::Settings settings_;
  std::size_t confs_ = 0;  // Seen so far.
  ErrorCode expected_ = ErrorCode::none;
  std::unordered_map<std::string, std::uint32_t> slots_;
  std::unordered_set<std::string> live_;  // Names.
  std::unordered_map<std::string, std::size_t> streams_;
  std::unordered_map<int, DeviceIndex> device_of_thread_;
};

}  // namespace

Result<ReplayPlan, ReplayRefusal> plan_replay(const testing::Program& program) {
  return Planner().plan(program);
}

}  // namespace cairn::tool
