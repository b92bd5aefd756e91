// Plainer operations, one at a time.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "testing/printer.h"
#include "testing/shrink_moves.h"

namespace cairn::testing {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

constexpr Bytes smallest{512};

// The plainest size is that of the smallest block. Of two others that which is written shorter is
// plainer; of those as long the smaller.
bool is_plainer(Bytes a, Bytes b) {
  if (a == smallest || b == smallest) return a == smallest && b != smallest;
  const std::size_t length_a = print_size(a).size();
  const std::size_t length_b = print_size(b).size();
  return length_a != length_b ? length_a < length_b : a < b;
}

std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) { return (n + unit - 1) / unit * unit; }

// A few of the sizes that are plainer than this one, the plainest first.
std::vector<Bytes> plainer_sizes(Bytes size) {
  std::vector<Bytes> sizes{smallest, Bytes{mib}, Bytes{2 * mib}, Bytes{10 * mib}, Bytes{20 * mib}};
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  if (0 < size.count && size.count < most) {
    sizes.push_back(Bytes{std::bit_floor(size.count)});
    sizes.push_back(Bytes{std::bit_ceil(size.count)});
    sizes.push_back(Bytes{round_up(size.count, mib)});
    sizes.push_back(Bytes{round_up(size.count, 512)});
  }
  std::erase_if(sizes, [&](Bytes plain) { return !is_plainer(plain, size); });
  std::ranges::sort(sizes, is_plainer);
  return sizes;
}

// Less memory takes fewer blocks to fill.
std::vector<Bytes> plainer_memory(Bytes memory) {
  std::vector<Bytes> sizes = plainer_sizes(memory);
  for (const std::uint64_t less : {memory.count / 2, memory.count / 4, 20 * mib, 2 * mib}) {
    if (memory.count < less + 2 * mib) continue;
    const Bytes smaller{(memory.count - less) / mib * mib};
    if (is_plainer(smaller, memory)) sizes.push_back(smaller);
  }
  return sizes;
}

// Of numbers that are counted, such as ticks.
std::vector<std::uint64_t> plainer_numbers(std::uint64_t number) {
  std::vector<std::uint64_t> numbers{1, 10, 1000};
  std::erase_if(numbers, [&](std::uint64_t plain) { return plain >= number; });
  return numbers;
}

// The items of a settings text, without one of them in turn. Commas in brackets part no items.
std::vector<std::string> without_an_item(const std::string& text) {
  std::vector<std::string> items(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  std::vector<std::string> shorter;
  for (std::size_t left_out = 0; left_out < items.size() && items.size() > 1; ++left_out) {
    std::string kept;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (i != left_out) kept += (kept.empty() ? "" : ",") + items[i];
    shorter.push_back(std::move(kept));
  }
  return shorter;
}

// Collects the operations that differ from the given one in a single member.
template <class Given>
class Forms {
 public:
  explicit Forms(const Given& given) : given_(given) {}

  template <class T>
  Forms& with(T Given::* member, const std::type_identity_t<T>& value) {
    if (given_.*member != value) std::get<Given>(forms_.emplace_back(given_)).*member = value;
    return *this;
  }
  template <class T, class Values>
  Forms& with_each(T Given::* member, const Values& values) {
    for (const auto& value : values) with(member, T{value});
    return *this;
  }
  std::vector<Operation> take() { return std::move(forms_); }

 private:
  const Given& given_;
  std::vector<Operation> forms_;
};

struct Plainer {
  template <class Other>
  std::vector<Operation> operator()(const Other&) const {
    return {};
  }
  std::vector<Operation> operator()(const GpuDecl& gpu) const {
    Forms forms(gpu);
    forms.with(&GpuDecl::memory, GpuDecl{}.memory);
    if (gpu.memory != GpuDecl{}.memory)
      forms.with_each(&GpuDecl::memory, plainer_memory(gpu.memory));
    return forms.with(&GpuDecl::adjacent, false).with(&GpuDecl::reuse_addresses, false).take();
  }
  std::vector<Operation> operator()(const Conf& conf) const {
    return Forms(conf).with_each(&Conf::text, without_an_item(conf.text)).take();
  }
  std::vector<Operation> operator()(const Reconfigure& change) const {
    return Forms(change).with_each(&Reconfigure::text, without_an_item(change.text)).take();
  }
  std::vector<Operation> operator()(const SegmentDecl& segment) const {
    return Forms(segment).with(&SegmentDecl::stream, "s0").with(&SegmentDecl::gpu, {}).take();
  }
  std::vector<Operation> operator()(const BlockDecl& block) const {
    return Forms(block).with(&BlockDecl::name, {}).take();
  }
  std::vector<Operation> operator()(const Fault& fault) const {
    Forms forms(fault);
    if (fault.count != 1u) forms.with(&Fault::count, 1);
    forms.with(&Fault::sticky, false).with(&Fault::error, CudaStatus::out_of_memory);
    return forms.with_each(&Fault::at, plainer_numbers(fault.at)).take();
  }
  std::vector<Operation> operator()(const MakeStream& make) const {
    Forms forms(make);
    forms.with(&MakeStream::gpu, {}).with(&MakeStream::blocking, false);
    return forms.with(&MakeStream::reuse, {}).take();
  }
  std::vector<Operation> operator()(const DestroyStream& destroy) const {
    return Forms(destroy).with(&DestroyStream::unannounced, false).take();
  }
  std::vector<Operation> operator()(const Launch& launch) const {
    Forms forms(launch);
    for (std::size_t i = 0; i < launch.touches.size() && launch.touches.size() > 1; ++i) {
      auto touches = launch.touches;
      touches.erase(touches.begin() + static_cast<std::ptrdiff_t>(i));
      forms.with(&Launch::touches, touches);
    }
    auto writes = launch.touches;
    for (Touch& touch : writes) touch.read_only = false;
    forms.with(&Launch::touches, writes).with(&Launch::stream, "s0");
    return forms.with_each(&Launch::ticks, plainer_numbers(launch.ticks)).take();
  }
  std::vector<Operation> operator()(const Advance& advance) const {
    return Forms(advance).with_each(&Advance::ticks, plainer_numbers(advance.ticks)).take();
  }
  std::vector<Operation> operator()(const Sync& sync) const {
    std::vector<Operation> forms;
    if (sync != Sync{}) forms.emplace_back(Sync{});
    if (sync.gpu && sync.stream) forms.emplace_back(Sync{sync.stream, {}});
    return forms;
  }
  std::vector<Operation> operator()(const Alloc& alloc) const {
    Forms forms(alloc);
    forms.with(&Alloc::align, {}).with(&Alloc::expected, {}).with(&Alloc::stream, "s0");
    return forms.with_each(&Alloc::size, plainer_sizes(alloc.size)).take();
  }
  std::vector<Operation> operator()(const Free& free) const {
    Forms forms(free);
    forms.with(&Free::on, {}).with(&Free::size, {}).with(&Free::stream, {});
    if (const auto* target = std::get_if<NamedTarget>(&free.target))
      forms.with(&Free::target, NamedTarget{target->name, {}});
    return forms.take();
  }
  std::vector<Operation> operator()(const Use& use) const {
    return Forms(use).with(&Use::stream, "s0").take();
  }
  std::vector<Operation> operator()(const MemoryFraction& limit) const {
    Forms forms(limit);
    if (limit.fraction != 1.0 && limit.fraction != 0.5) forms.with(&MemoryFraction::fraction, 0.5);
    return forms.with(&MemoryFraction::gpu, {}).take();
  }
};

// One of two neighbouring blocks takes the place of both, from `first` on.
std::optional<Program> with_merged(const Program& program, std::size_t first, bool keeps_first) {
  if (first + 1 >= program.statements.size()) return std::nullopt;
  const auto* one = std::get_if<BlockDecl>(&program.statements[first].operation);
  const auto* other = std::get_if<BlockDecl>(&program.statements[first + 1].operation);
  if (one == nullptr || other == nullptr) return std::nullopt;
  Program merged = program;
  merged.statements[first].operation =
      BlockDecl{keeps_first ? one->name : other->name, one->size + other->size};
  merged.statements.erase(merged.statements.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  return merged;
}

}  // namespace

bool use_fewer_declared_blocks(const Program& program, const Try& attempt) {
  for (std::size_t first = 0; first < program.statements.size(); ++first) {
    for (const bool keeps_first : {true, false}) {
      const auto merged = with_merged(program, first, keeps_first);
      if (merged && attempt(*merged)) return true;
    }
  }
  return false;
}

std::vector<Operation> plainer(const Operation& operation) {
  return std::visit(Plainer{}, operation);
}

bool use_plainer_sizes(const Program& program, const Try& attempt) {
  std::vector<Bytes> sizes;
  for (const Statement& statement : program.statements)
    if (const auto* alloc = std::get_if<Alloc>(&statement.operation)) sizes.push_back(alloc->size);
  std::ranges::sort(sizes);
  const auto replaced = [&](Bytes old, Bytes plain) {
    Program changed = program;
    for (Statement& statement : changed.statements) {
      auto* alloc = std::get_if<Alloc>(&statement.operation);
      if (alloc != nullptr && alloc->size == old) alloc->size = plain;
      auto* free = std::get_if<Free>(&statement.operation);
      if (free != nullptr && free->size == old) free->size = plain;
    }
    return changed;
  };
  const auto last = std::ranges::unique(sizes).begin();
  return std::any_of(sizes.begin(), last, [&](Bytes old) {
    return std::ranges::any_of(plainer_sizes(old),
                               [&](Bytes plain) { return attempt(replaced(old, plain)); });
  });
}

}  // namespace cairn::testing
