#include "bench/trace_sequences.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "testing/csv.h"
#include "testing/gzip_file.h"
#include "testing/import_events.h"
#include "testing/import_two_thread.h"
#include "testing/parser.h"
#include "testing/program.h"

namespace cairn::bench {
namespace {

using testing::Program;
using testing::Statement;
using Refusal = std::optional<std::string>;

constexpr std::string_view lifetimes_header = "id,lower,upper,size";

// Follows a Program through the names of its blocks and streams.
class SequenceOfProgram {
 public:
  // The reason why there is no sequence of it, if there is none.
  Refusal add(const std::vector<Statement>& statements) {
    for (const Statement& statement : statements) {
      if (auto why = add(statement)) return why;
    }
    return std::nullopt;
  }
  // Of the statement that was added last.
  int line() const { return line_; }
  Sequence take() { return std::move(sequence_); }

 private:
  Refusal add(const Statement& statement) {
    line_ = statement.line;
    thread_ = statement.thread.value_or(0);
    if (statement.expected != ErrorCode::none) return std::nullopt;
    return std::visit([this](const auto& operation) { return carry_out(operation); },
                      statement.operation);
  }
  template <class Operation>
  Refusal carry_out(const Operation&) {
    return std::nullopt;  // It asks for no memory.
  }
  Refusal carry_out(const testing::Alloc& alloc) {
    return allocate(alloc.name, alloc.size, alloc.stream);
  }
  Refusal carry_out(const testing::Free& free) {
    const auto* target = std::get_if<testing::NamedTarget>(&free.target);
    if (target == nullptr) return std::nullopt;
    const auto found = live_.find(target->name);
    if (found == live_.end()) return "it frees " + target->name + ", which is not live";
    if (free.on) sequence_.use(found->second, stream(*free.on));
    sequence_.free(found->second);
    live_.erase(found);
    return std::nullopt;
  }
  Refusal carry_out(const testing::Use& use) {
    const auto found = live_.find(use.name);
    if (found == live_.end()) return "it uses " + use.name + ", which is not live";
    sequence_.use(found->second, stream(use.stream));
    return std::nullopt;
  }
  Refusal carry_out(const testing::SegmentDecl& segment) {
    segment_stream_ = segment.stream;
    return on_one_device(segment.gpu);
  }
  Refusal carry_out(const testing::BlockDecl& block) {
    return block.name ? allocate(*block.name, block.size, segment_stream_) : std::nullopt;
  }
  Refusal carry_out(const testing::MakeStream& made) { return on_one_device(made.gpu); }
  Refusal carry_out(const testing::GpuDecl& gpu) { return on_one_device(gpu.device); }
  // What other threads do at the same time comes here as the text has it.
  Refusal carry_out(const testing::During& during) { return add(during.body); }
  Refusal carry_out(const testing::Parallel& parallel) { return add(parallel.body); }

  static Refusal on_one_device(std::optional<DeviceIndex> device) {
    if (device.value_or(0) == 0) return std::nullopt;
    return "it has several devices, and a sequence is of one";
  }
  Refusal allocate(const std::string& name, Bytes size, const std::string& on) {
    if (live_.contains(name)) return "it allocates " + name + ", which is live";
    live_[name] = sequence_.allocate(size.count, stream(on));
    return std::nullopt;
  }
  // s0 is the default stream; the others are numbered as they come. Each thread has a ptds.
  std::uint16_t stream(const std::string& name) {
    const auto next = static_cast<std::uint16_t>(streams_.size());
    const std::string full = name == "ptds" ? name + " " + std::to_string(thread_) : name;
    return streams_.try_emplace(full, next).first->second;
  }

  Sequence sequence_;
  int line_ = 0;
  int thread_ = 0;
  std::map<std::string, std::uint32_t> live_;
  std::map<std::string, std::uint16_t> streams_{{"s0", std::uint16_t{0}}};
  std::string segment_stream_;
};

Result<Sequence, std::string> sequence_of(const Program& program) {
  SequenceOfProgram conversion;
  if (const auto why = conversion.add(program.statements)) {
    return Failure{"line " + std::to_string(conversion.line()) + ": " + *why};
  }
  return conversion.take();
}

// Buffers that live in [lower, upper): what ends at a time does so before what begins then.
Result<Sequence, std::string> sequence_of_lifetimes(std::string_view csv, std::uint64_t unit) {
  struct Change {
    std::uint64_t time;
    bool begins;
    std::size_t buffer;
    auto operator<=>(const Change&) const = default;
  };
  testing::CsvReader reader(csv, lifetimes_header);
  if (const auto error = reader.read_header()) return Failure{to_string(*error)};
  std::vector<std::uint64_t> sizes;
  std::vector<Change> changes;
  while (auto row = reader.next()) {
    changes.push_back({row->number(1, "lower"), true, sizes.size()});
    changes.push_back({row->number(2, "upper"), false, sizes.size()});
    sizes.push_back(row->number(3, "size") * unit);
    if (row->error()) return Failure{to_string(*row->error())};
    if (changes[changes.size() - 2].time >= changes.back().time) {
      return Failure{"line " + std::to_string(row->line()) + ": it ends before it begins"};
    }
  }
  std::sort(changes.begin(), changes.end());
  Sequence sequence;
  std::vector<std::uint32_t> blocks(sizes.size());
  for (const Change& change : changes) {
    if (change.begins) {
      blocks[change.buffer] = sequence.allocate(sizes[change.buffer]);
    } else {
      sequence.free(blocks[change.buffer]);
    }
  }
  return sequence;
}

Result<Sequence, std::string> sequence_of_import(
    const testing::ImportResult<testing::Imported>& imported) {
  if (!imported) return Failure{to_string(imported.error())};
  return sequence_of(imported->program);
}

Result<Sequence, std::string> sequence_of_events(const std::string& path,
                                                 const std::string& events) {
  const std::string ending = ".events.csv.gz";
  std::string initial;
  if (path.ends_with(ending)) {
    const std::string beside = path.substr(0, path.size() - ending.size()) + ".initial.json.gz";
    if (std::filesystem::exists(beside)) {
      auto content = testing::read_content(beside);
      if (!content) return Failure{content.error()};
      initial = std::move(*content);
    }
  }
  testing::EventFiles files;
  files.events = events;
  files.initial = initial;
  return sequence_of_import(testing::import_events(files));
}

Result<Sequence, std::string> sequence_of_program(std::string_view text) {
  const auto program = testing::parse_program(text);
  if (program) return sequence_of(*program);
  const testing::ParseError& error = program.error();
  return Failure{"line " + std::to_string(error.line) + ": " + error.message};
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

std::string name_of_file(const std::string& path) {
  std::string name = std::filesystem::path(path).filename();
  for (const std::string_view ending : {".gz", ".csv", ".events", ".program"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  return name;
}

}  // namespace

Result<Sequence, std::string> read_sequence(const std::string& path) {
  const auto content = testing::read_content(path);
  if (!content) return Failure{content.error()};
  std::string name = name_of_file(path);
  Result<Sequence, std::string> sequence = Failure{std::string()};
  if (content->starts_with(lifetimes_header)) {
    const std::size_t dot = std::min(name.rfind('.'), name.size());
    const bool is_packing =
        is_number(std::string_view(name).substr(std::min(dot + 1, name.size())));
    sequence = sequence_of_lifetimes(*content, is_packing ? 1024 : 1);
    name = is_packing ? "packing-" + name.substr(0, dot) : "lifetimes-" + name;
  } else if (content->starts_with(testing::events_header)) {
    sequence = sequence_of_events(path, *content);
  } else if (content->starts_with(testing::two_thread_header)) {
    sequence = sequence_of_import(testing::import_two_thread(*content));
  } else {
    sequence = sequence_of_program(*content);
  }
  if (sequence) (*sequence).name = name;
  return sequence;
}

std::vector<Sequence> read_sequences(const char* program, const std::vector<std::string>& files) {
  std::vector<Sequence> sequences;
  for (const std::string& file : files) {
    auto sequence = read_sequence(file);
    if (sequence) {
      sequences.push_back(std::move(*sequence));
    } else {
      std::fprintf(stderr, "%s: %s: left out: %s\n", program, file.c_str(),
                   sequence.error().c_str());
    }
  }
  return sequences;
}

}  // namespace cairn::bench
