// Moves over all that a Program names: blocks, streams, devices, threads.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "testing/shrink_moves.h"

namespace cairn::testing {
namespace {

enum class NameKind { block, stream };

// Calls visit(kind, name) for each name in an operation, which may be changed.
template <class Visit>
struct NamesIn {
  Visit visit;

  template <class Other>
  void operator()(Other&) const {}
  void operator()(SegmentDecl& segment) const { stream(segment.stream); }
  void operator()(BlockDecl& declared) const {
    if (declared.name) block(*declared.name);
  }
  void operator()(MakeStream& make) const {
    stream(make.stream);
    if (make.reuse) stream(*make.reuse);
  }
  void operator()(DestroyStream& destroy) const { stream(destroy.stream); }
  void operator()(Launch& launch) const {
    stream(launch.stream);
    for (Touch& touch : launch.touches) block(touch.name);
  }
  void operator()(Order& order) const {
    stream(order.before);
    stream(order.after);
  }
  void operator()(Sync& sync) const {
    if (sync.stream) stream(*sync.stream);
  }
  void operator()(Alloc& alloc) const {
    block(alloc.name);
    stream(alloc.stream);
  }
  void operator()(Free& free) const {
    if (auto* target = std::get_if<NamedTarget>(&free.target)) block(target->name);
    if (free.on) stream(*free.on);
    if (free.stream) stream(*free.stream);
  }
  void operator()(Use& use) const {
    block(use.name);
    stream(use.stream);
  }

 private:
  void block(std::string& name) const { visit(NameKind::block, name); }
  void stream(std::string& name) const { visit(NameKind::stream, name); }
};

template <class Visit>
void visit_names(Program& program, const Visit& visit) {
  for (Statement& statement : program.statements)
    std::visit(NamesIn<Visit>{visit}, statement.operation);
}

using Names = std::vector<std::string>;

template <class T>
void add_once(std::vector<T>& all, const T& one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(one);
}

// In the order in which they come.
Names names_in(Program program, NameKind wanted) {
  Names names;
  visit_names(program, [&](NameKind kind, const std::string& name) {
    if (kind == wanted) add_once(names, name);
  });
  return names;
}

Program with_names(Program program, NameKind wanted, const std::map<std::string, std::string>& to) {
  visit_names(program, [&](NameKind kind, std::string& name) {
    const auto found = to.find(name);
    if (kind == wanted && found != to.end()) name = found->second;
  });
  return program;
}

bool is_default(const std::string& stream) { return stream == "s0" || stream == "ptds"; }

// Default streams are never made, nor do they end.
Program with_stream(Program program, const std::string& from, const std::string& to) {
  std::erase_if(program.statements, [&](const Statement& statement) {
    const auto* make = std::get_if<MakeStream>(&statement.operation);
    const auto* destroy = std::get_if<DestroyStream>(&statement.operation);
    const bool is_its_own = (make != nullptr && (make->stream == from || make->reuse == from)) ||
                            (destroy != nullptr && destroy->stream == from);
    return is_default(to) && is_its_own;
  });
  return with_names(std::move(program), NameKind::stream, {{from, to}});
}

// False where the kernel then touches nothing.
bool touches_others(Launch& launch, const std::string& name) {
  std::erase_if(launch.touches, [&](const Touch& touch) { return touch.name == name; });
  return !launch.touches.empty();
}

// Without its kernels' touches of the block, and what names it otherwise.
Program without_block(Program program, const std::string& name) {
  const auto names_it = [&](Statement& statement) {
    if (auto* launch = std::get_if<Launch>(&statement.operation))
      return !touches_others(*launch, name);
    bool found = false;
    const auto look = [&](NameKind kind, const std::string& other) {
      found = found || (kind == NameKind::block && other == name);
    };
    std::visit(NamesIn<decltype(look)>{look}, statement.operation);
    return found && !std::holds_alternative<BlockDecl>(statement.operation);
  };
  std::erase_if(program.statements, names_it);
  return program;
}

// ---- devices ----

// The devices that an operation names, which may be changed.
template <class Visit>
struct DevicesIn {
  Visit visit;

  template <class Other>
  void operator()(Other& other) const {
    if constexpr (requires { other.gpu; }) {
      if (other.gpu) visit(*other.gpu);
    }
  }
  void operator()(GpuDecl& gpu) const { visit(gpu.device); }
  void operator()(SetDevice& set) const { visit(set.device); }
};

template <class Visit>
void visit_devices(Program& program, const Visit& visit) {
  for (Statement& statement : program.statements)
    std::visit(DevicesIn<Visit>{visit}, statement.operation);
}

// The other device's declaration stays, and that of this one goes.
Program with_device(Program program, DeviceIndex from, DeviceIndex to) {
  std::erase_if(program.statements, [&](const Statement& statement) {
    const auto* gpu = std::get_if<GpuDecl>(&statement.operation);
    return gpu != nullptr && gpu->device == from;
  });
  visit_devices(program, [&](DeviceIndex& device) {
    if (device == from) device = to;
  });
  return program;
}

// ---- threads ----

Program with_thread(Program program, std::optional<int> from, std::optional<int> to) {
  for (Statement& statement : program.statements)
    if (statement.thread == from) statement.thread = to;
  return program;
}

std::vector<std::optional<int>> threads_in(const Program& program) {
  std::vector<std::optional<int>> threads;
  for (const Statement& statement : program.statements)
    if (statement.thread) add_once(threads, statement.thread);
  return threads;
}

// The n-th of a, b, ..., z, a1, b1, ...
std::string letter_name(std::size_t n) {
  const std::string letter(1, static_cast<char>('a' + n % 26));
  return n < 26 ? letter : letter + std::to_string(n / 26);
}

}  // namespace

bool use_fewer_blocks(const Program& program, const Try& attempt) {
  return std::ranges::any_of(names_in(program, NameKind::block), [&](const std::string& name) {
    return attempt(without_block(program, name));
  });
}

bool use_fewer_streams(const Program& program, const Try& attempt) {
  const Names named = names_in(program, NameKind::stream);
  Names streams{"s0"};
  std::ranges::copy_if(named, std::back_inserter(streams),
                       [](const std::string& name) { return name == "ptds"; });
  for (const std::string& name : named) add_once(streams, name);
  const auto is_gone = [&](const std::string& from) {
    return from != "s0" && std::ranges::any_of(streams, [&](const std::string& to) {
             const bool is_plainer = to == "s0" || !is_default(from);
             return to != from && is_plainer && attempt(with_stream(program, from, to));
           });
  };
  return std::ranges::any_of(streams, is_gone);
}

bool use_fewer_devices(const Program& program, const Try& attempt) {
  std::vector<DeviceIndex> devices;
  Program looked_at = program;
  visit_devices(looked_at, [&](DeviceIndex device) { add_once(devices, device); });
  add_once(devices, DeviceIndex{0});
  std::ranges::sort(devices);
  return std::ranges::any_of(devices, [&](DeviceIndex from) {
    return std::ranges::any_of(devices, [&](DeviceIndex to) {
      return to < from && attempt(with_device(program, from, to));
    });
  });
}

bool use_fewer_threads(const Program& program, const Try& attempt) {
  const auto threads = threads_in(program);
  Program on_one = program;
  for (Statement& statement : on_one.statements) statement.thread.reset();
  if (threads.empty() || attempt(on_one)) return !threads.empty();
  return std::ranges::any_of(threads, [&](std::optional<int> from) {
    if (attempt(with_thread(program, from, std::nullopt))) return true;
    return std::ranges::any_of(threads, [&](std::optional<int> to) {
      return *to < *from && attempt(with_thread(program, from, to));
    });
  });
}

bool use_plain_names(const Program& program, const Try& attempt) {
  std::map<std::string, std::string> blocks;
  for (const std::string& name : names_in(program, NameKind::block))
    blocks.emplace(name, letter_name(blocks.size()));
  std::map<std::string, std::string> streams;
  for (const std::string& name : names_in(program, NameKind::stream))
    if (!is_default(name)) streams.emplace(name, "s" + std::to_string(streams.size() + 1));
  std::map<int, int> threads;
  for (const auto& thread : threads_in(program))
    threads.emplace(*thread, static_cast<int>(threads.size()) + 1);
  Program plain = with_names(program, NameKind::block, blocks);
  plain = with_names(std::move(plain), NameKind::stream, streams);
  for (Statement& statement : plain.statements)
    if (statement.thread) statement.thread = threads.at(*statement.thread);
  return plain != program && attempt(plain);
}

}  // namespace cairn::testing
