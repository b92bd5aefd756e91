// The Setup of a Program: each field picks what is nearest to what the Program declares.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "cairn/options.h"
#include "testing/declarations.h"
#include "testing/op_encoder.h"
#include "testing/op_values.h"

namespace cairn::testing {
namespace {

double apart(std::uint64_t a, std::uint64_t b) {
  return std::abs(static_cast<double>(a) - static_cast<double>(b));
}

// How far settings are from others in one respect.
template <auto member>
double differ(const Options& a, const Options& b) {
  return std::abs(static_cast<double>(a.*member) - static_cast<double>(b.*member));
}

double differ_in_divisions(const Options& a, const Options& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.roundup_power2_divisions.size(); ++i)
    sum += apart(a.roundup_power2_divisions.at(i), b.roundup_power2_divisions.at(i));
  return sum;
}

struct SettingField {
  std::uint8_t Setup::* field;
  double (*distance)(const Options& a, const Options& b);
};
constexpr std::array<SettingField, 6> setting_fields{{
    {&Setup::split, differ<&Options::max_split_size_bytes>},
    {&Setup::rounding, differ<&Options::max_non_split_rounding_bytes>},
    {&Setup::large_segment, differ<&Options::large_segment_size_bytes>},
    {&Setup::divisions, differ_in_divisions},
    {&Setup::threshold, differ<&Options::garbage_collection_threshold>},
    {&Setup::fraction, differ<&Options::per_process_memory_fraction>},
}};
constexpr unsigned most_choices = 21;  // The longest list has 20 values, and there may be none.

void encode_settings(const Options& wanted, Setup& setup) {
  for (const auto& [field, distance] : setting_fields) {
    setup.*field = static_cast<std::uint8_t>(nearest(most_choices, [&](unsigned choice) {
      Setup alone;
      alone.*field = static_cast<std::uint8_t>(choice);
      return distance(parse_settings(settings_of(alone)).options, wanted);
    }));
  }
  const auto switch_on = [&](std::uint8_t bit, bool is_on) { setup.switches |= is_on ? bit : 0; };
  switch_on(setup_switch::tie_by_address, wanted.best_fit_tie == BestFitTie::address);
  switch_on(setup_switch::release_lock, wanted.release_lock_on_cudamalloc);
  switch_on(setup_switch::identity, wanted.stream_identity == StreamIdentity::id);
  switch_on(setup_switch::rejects, wanted.throw_on_cudamalloc_oom);
  switch_on(setup_switch::pytorch_defects, wanted.pytorch_defects);
}

void encode_gpus(const Program& program, Setup& setup) {
  int devices = 1;
  const auto name = [&](DeviceIndex device) { devices = std::max(devices, device + 1); };
  for (const Statement& statement : program.statements) {
    if (const auto* set = std::get_if<SetDevice>(&statement.operation)) name(set->device);
    if (const auto* made = std::get_if<MakeStream>(&statement.operation))
      name(made->gpu.value_or(0));
    if (const auto* gpu = std::get_if<GpuDecl>(&statement.operation)) name(gpu->device);
  }
  devices = std::min(devices, 3);
  setup.devices = static_cast<std::uint8_t>(devices - 1);
  setup.memory.fill(0xff);  // As much as there can be.
  for (const Statement& statement : program.statements) {
    const auto* gpu = std::get_if<GpuDecl>(&statement.operation);
    if (gpu == nullptr || gpu->device >= devices) continue;
    std::uint8_t& memory = setup.memory.at(static_cast<std::size_t>(gpu->device));
    memory = static_cast<std::uint8_t>(nearest(64, [&](unsigned code) {
      Setup alone;
      alone.memory[0] = static_cast<std::uint8_t>(code);
      return apart(gpu_of(alone, 0).memory.count, gpu->memory.count);
    }));
    const int places = (gpu->adjacent ? 1 : 0) + (gpu->reuse_addresses ? 2 : 0);
    setup.places = static_cast<std::uint8_t>(setup.places | places << (2 * gpu->device));
  }
}

// The first segment counts, by its device and its pool.
void encode_segment(const Program& program, EncodedWorld& world) {
  const int devices = devices_of(world.setup);
  for (const Statement& statement : program.statements) {
    const auto* segment = std::get_if<SegmentDecl>(&statement.operation);
    const auto* block = std::get_if<BlockDecl>(&statement.operation);
    if (block != nullptr && block->name) world.blocks.push_back(*block->name);
    if (segment == nullptr || world.setup.segment != 0) continue;
    int code = segment->pool == PoolKind::small ? 1 : 0x80;
    while (code % devices != segment->gpu.value_or(0) % devices) ++code;
    world.setup.segment = static_cast<std::uint8_t>(code);
  }
}

void encode_threads(const Program& program, Setup& setup) {
  int highest = 0;
  for (const Statement& statement : program.statements)
    highest = std::max(highest, statement.thread.value_or(0));
  setup.threads = static_cast<std::uint8_t>(std::min(highest, 3));
}

bool is_declaration(const Operation& operation) {
  return std::holds_alternative<GpuDecl>(operation) || std::holds_alternative<Conf>(operation) ||
         std::holds_alternative<SegmentDecl>(operation) ||
         std::holds_alternative<BlockDecl>(operation) ||
         std::holds_alternative<MakeStream>(operation);
}

constexpr std::size_t most_initial_streams = 6;

// Those that are declared, then those that are made by their first mention.
class InitialStreams {
 public:
  explicit InitialStreams(const Program& program) {
    auto statement = program.statements.begin();
    for (; statement != program.statements.end(); ++statement) {
      if (!is_declaration(statement->operation)) break;
      const auto* made = std::get_if<MakeStream>(&statement->operation);
      if (made != nullptr && !made->reuse) add(*made);
    }
    for (; statement != program.statements.end(); ++statement) see(*statement);
  }
  std::vector<MakeStream> take() { return std::move(streams_); }

 private:
  void add(const MakeStream& stream) {
    if (!known_.insert(stream.stream).second) return;
    if (streams_.size() < most_initial_streams) streams_.push_back(stream);
  }

  void see(const Statement& statement) {
    DeviceIndex& device = devices_[statement.thread.value_or(0)];
    if (const auto* set = std::get_if<SetDevice>(&statement.operation)) device = set->device;
    if (const auto* made = std::get_if<MakeStream>(&statement.operation))
      known_.insert(made->stream);
    for (const std::string& name : streams_named(statement.operation))
      add(MakeStream{name, device, false, {}});
  }

  std::vector<MakeStream> streams_;
  std::set<std::string> known_{"s0", "ptds"};
  std::map<int, DeviceIndex> devices_;
};

void encode_streams(const Program& program, EncodedWorld& world) {
  world.streams = InitialStreams(program).take();
  Setup& setup = world.setup;
  const std::size_t count = std::max<std::size_t>(3, world.streams.size());
  setup.streams = static_cast<std::uint8_t>(count - 3);
  for (std::size_t i = 0; i < world.streams.size(); ++i) {
    const MakeStream& stream = world.streams[i];
    if (stream.blocking) setup.blocking = static_cast<std::uint8_t>(setup.blocking | 1 << i);
    const int device = stream.gpu.value_or(0) & 3;
    if (i < 4)
      setup.stream_devices = static_cast<std::uint8_t>(setup.stream_devices | device << (2 * i));
  }
}

void encode_switches(const Program& program, Setup& setup) {
  for (const Statement& statement : program.statements) {
    const auto* fault = std::get_if<Fault>(&statement.operation);
    if (fault != nullptr && (fault->sticky || !fault->count || is_sticky(fault->error)))
      setup.switches |= setup_switch::lost_devices;
    for (const std::string& name : streams_named(statement.operation)) {
      if (name == "s0" || name == "ptds") setup.switches |= setup_switch::default_streams;
    }
  }
}

}  // namespace

std::vector<std::string> streams_named(const Operation& operation) {
  if (const auto* alloc = std::get_if<Alloc>(&operation)) return {alloc->stream};
  if (const auto* launch = std::get_if<Launch>(&operation)) return {launch->stream};
  if (const auto* order = std::get_if<Order>(&operation)) return {order->before, order->after};
  if (const auto* use = std::get_if<Use>(&operation)) return {use->stream};
  const auto* sync = std::get_if<Sync>(&operation);
  if (sync != nullptr && sync->stream) return {*sync->stream};
  const auto* free = std::get_if<Free>(&operation);
  if (free != nullptr && free->on) return {*free->on};
  return {};
}

EncodedWorld encode_world(const Program& program) {
  EncodedWorld world;
  encode_settings(read_settings(program).options, world.setup);
  encode_gpus(program, world.setup);
  encode_segment(program, world);
  encode_threads(program, world.setup);
  encode_streams(program, world);
  encode_switches(program, world.setup);
  return world;
}

}  // namespace cairn::testing
