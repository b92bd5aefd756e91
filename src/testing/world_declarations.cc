// What a Program declares: settings, devices, and memory that the allocator has from the start.
#include <algorithm>

#include "testing/world_impl.h"

namespace cairn::testing {
namespace {

// What the allocator refuses, and a setting that it keeps and that changes nothing yet.
std::string setting_not_supported(const Options& options) {
  if (options.graph_capture_record_stream_reuse) return "graph_capture_record_stream_reuse:True";
  return unsupported_setting_in(options);
}

// All `conf` lines as one text, and where in it each begins.
struct JoinedText {
  std::string text;
  std::vector<const Statement*> lines;
  std::vector<std::size_t> starts;
};

JoinedText join_settings(const Program& program) {
  JoinedText joined;
  for (const Statement& statement : program.statements) {
    const auto* conf = std::get_if<Conf>(&statement.operation);
    if (conf == nullptr) continue;
    if (!joined.text.empty() && !joined.text.ends_with(',')) joined.text += ',';
    joined.lines.push_back(&statement);
    joined.starts.push_back(joined.text.size());
    joined.text += conf->text;
  }
  return joined;
}

}  // namespace

Settings read_settings(const Program& program) {
  const JoinedText joined = join_settings(program);
  Settings settings;
  if (joined.lines.empty()) return settings;
  const ParsedSettings parsed = parse_settings(joined.text, {}, SettingsDialect::cairn);
  settings.warnings = parsed.warnings;
  if (!parsed.ok) {
    const auto after = std::ranges::upper_bound(joined.starts, parsed.error.position);
    const auto index = static_cast<std::size_t>(after - joined.starts.begin()) - 1;
    StepResult result = mistake(parsed.error.message);
    result.line = joined.lines[index]->line;
    constexpr std::size_t word = std::string_view("conf ").size();
    const std::size_t offset = word + parsed.error.position - joined.starts[index];
    result.column = joined.lines[index]->column + static_cast<int>(offset);
    settings.fault = {index, result};
    return settings;
  }
  const std::size_t last = joined.lines.size() - 1;
  const std::string fault = find_fault(parsed.options);
  const std::string missing = setting_not_supported(parsed.options);
  if (!fault.empty()) {
    settings.fault = {last, mistake(fault)};
  } else if (!missing.empty()) {
    settings.fault = {last, unsupported("the setting " + missing + " is not supported yet")};
  } else {
    settings.options = parsed.options;
  }
  return settings;
}

std::vector<simulator::DeviceOptions> declared_devices(const Program& program) {
  std::vector<simulator::DeviceOptions> devices(1);
  for (const Statement& statement : program.statements) {
    const auto* gpu = std::get_if<GpuDecl>(&statement.operation);
    if (gpu == nullptr || gpu->device < 0) continue;
    const auto index = static_cast<std::size_t>(gpu->device);
    if (devices.size() <= index) devices.resize(index + 1);
    devices[index] = {gpu->memory, gpu->adjacent, gpu->reuse_addresses};
  }
  return devices;
}

StepResult World::Impl::act(const GpuDecl&) { return ok(); }

StepResult World::Impl::act(const Conf&) {
  const std::size_t index = confs_++;
  if (settings_.fault && settings_.fault->first == index) return settings_.fault->second;
  return ok();
}

StepResult World::Impl::act(const SegmentDecl& declared) {
  const DeviceIndex device = declared.gpu.value_or(current_device());
  if (auto missing = missing_device(device)) return *missing;
  if (declared.size.count == 0 || !is_multiple(declared.size, block_granularity))
    return mistake("the segment's size is not a positive multiple of 512");
  const auto of = stream(declared.stream, device);
  if (!of) return of.error();
  streams_.note_device(declared.stream, device);
  const auto placed = machine_.gpu().place(device, {declared.address, declared.size});
  if (!placed) return mistake("no segment can be here: " + placed.error());
  OpenSegment open;
  open.device = device;
  open.segment = {device, {declared.address, declared.size}, declared.pool, streams_.id(*of), {}};
  open.owner = *of;
  open_segment_ = std::move(open);
  return ok();
}

StepResult World::Impl::act(const BlockDecl& block) {
  if (!open_segment_) return mistake("a block follows its segment");
  OpenSegment& open = *open_segment_;
  const auto& before = open.segment.blocks;
  if (block.size.count == 0 || !is_multiple(block.size, block_granularity) ||
      block.size > open.segment.span.size - open.covered)
    return mistake("the block does not fit its segment");
  if (!block.name && !before.empty() && !before.back().allocated)
    return mistake("two free blocks side by side would be one");
  const auto same_name = std::ranges::find(open.names, block.name);
  if (block.name && (names_.is_live(*block.name) || same_name != open.names.end()))
    return mistake("'" + *block.name + "' is live already");
  open.segment.blocks.push_back({block.size, block.name.has_value()});
  open.names.push_back(block.name);
  open.covered += block.size;
  if (open.covered < open.segment.span.size) return ok();
  return install(*std::exchange(open_segment_, std::nullopt));
}

StepResult World::Impl::install(const OpenSegment& open) {
  const model::InitialSegment& segment = open.segment;
  SegmentLayout layout{segment.span, segment.pool, segment.stream, {}};
  for (const auto& block : segment.blocks) layout.blocks.push_back({block.size, block.allocated});
  machine_.adopt(open.device, layout);
  if (lockstep_) lockstep_->model().add_initial_segment(segment);
  Address address = segment.span.begin;
  for (std::size_t i = 0; i < open.names.size(); ++i) {
    const Span span{address, segment.blocks[i].size};
    address = span.end();
    if (!open.names[i]) continue;
    names_.bind(*open.names[i],
                {open.device, span, span.size, open.owner.handle, segment.stream, true});
    machine_.gpu().hand_out(open.device, span, streams_.number(open.owner));
  }
  now_.operated = true;
  return ok();
}

}  // namespace cairn::testing
