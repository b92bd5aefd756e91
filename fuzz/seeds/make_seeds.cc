// Makes tapes for the fuzz targets of Programs: regressions as they are, recorded traces in pieces,
// and besides tapes drawn at random. Each tape is a file; libFuzzer then keeps those that reach
// something of their own (fuzz/README.md).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testing/command_line.h"
#include "testing/gzip_file.h"
#include "testing/op_draws.h"
#include "testing/op_encoder.h"
#include "testing/parser.h"

namespace {

using namespace cairn;
using namespace cairn::testing;

constexpr std::size_t most_operations = 256;  // Of a tape: half of what ci/fuzz allows.
constexpr std::size_t most_carried = 40;      // Blocks that a piece begins with.
constexpr std::size_t pieces = 36;            // Of a trace.
constexpr Bytes most_live{std::uint64_t{1} << 30};
constexpr Bytes largest_kept{std::uint64_t{1} << 20};  // Larger sizes shrink where memory is short.

// The name of a block that the statement frees, uses or works on.
std::vector<std::string> blocks_named(const Statement& statement) {
  std::vector<std::string> names;
  if (const auto* use = std::get_if<Use>(&statement.operation)) names.push_back(use->name);
  if (const auto* launch = std::get_if<Launch>(&statement.operation)) {
    for (const Touch& touch : launch->touches) names.push_back(touch.name);
  }
  const auto* free = std::get_if<Free>(&statement.operation);
  const auto* target = free == nullptr ? nullptr : std::get_if<NamedTarget>(&free->target);
  if (target != nullptr) names.push_back(target->name);
  return names;
}

// A trace's blocks that are live, as statements that allocate them again.
class LiveBlocks {
 public:
  void see(const Statement& statement) {
    if (std::holds_alternative<Alloc>(statement.operation)) {
      const auto& alloc = std::get<Alloc>(statement.operation);
      if (statement.expected == ErrorCode::none) live_[alloc.name] = statement;
    }
    const auto* block = std::get_if<BlockDecl>(&statement.operation);
    if (block != nullptr && block->name) {
      Statement again;
      again.operation = Alloc{*block->name, block->size, "s0", {}, {}};
      live_[*block->name] = again;
    }
    if (std::holds_alternative<Free>(statement.operation)) {
      for (const std::string& name : blocks_named(statement)) live_.erase(name);
    }
  }
  const Statement* find(const std::string& name) const {
    const auto found = live_.find(name);
    return found == live_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, Statement> live_;
};

bool is_declared(const Statement& statement) {
  return std::holds_alternative<GpuDecl>(statement.operation) ||
         std::holds_alternative<Conf>(statement.operation);
}

Bytes peak_of(const std::vector<Statement>& statements) {
  std::map<std::string, Bytes> live;
  Bytes now{};
  Bytes peak{};
  for (const Statement& statement : statements) {
    if (const auto* alloc = std::get_if<Alloc>(&statement.operation)) {
      live[alloc->name] = alloc->size;
      now = now + alloc->size;
      peak = std::max(peak, now);
    }
    if (!std::holds_alternative<Free>(statement.operation)) continue;
    for (const std::string& name : blocks_named(statement)) {
      now = now - live[name];
      live.erase(name);
    }
  }
  return peak;
}

void shrink_sizes(std::vector<Statement>& statements) {
  while (peak_of(statements) > most_live) {
    for (Statement& statement : statements) {
      auto* alloc = std::get_if<Alloc>(&statement.operation);
      if (alloc != nullptr && alloc->size > largest_kept)
        alloc->size = Bytes{alloc->size.count / 2};
    }
  }
}

// The operations from there on, and before them what of the blocks live there they name.
Program piece_of(const Program& trace, std::size_t begin, const LiveBlocks& live) {
  std::vector<Statement> carried;
  std::vector<Statement> cut;
  std::set<std::string> seen;
  for (std::size_t i = begin; i < trace.statements.size(); ++i) {
    if (carried.size() + cut.size() >= most_operations) break;
    cut.push_back(trace.statements[i]);
    for (const std::string& name : blocks_named(cut.back())) {
      const Statement* again = live.find(name);
      if (again == nullptr || carried.size() == most_carried || !seen.insert(name).second) continue;
      carried.push_back(*again);
    }
  }
  carried.insert(carried.end(), cut.begin(), cut.end());
  shrink_sizes(carried);
  Program piece;
  std::ranges::copy_if(trace.statements, std::back_inserter(piece.statements), is_declared);
  piece.statements.insert(piece.statements.end(), carried.begin(), carried.end());
  return piece;
}

// Every second piece has hardly the memory that it needs.
void make_short_of_memory(Program& piece) {
  const Bytes memory{peak_of(piece.statements).count / 8 * 9};
  for (Statement& statement : piece.statements) {
    if (auto* gpu = std::get_if<GpuDecl>(&statement.operation)) gpu->memory = memory;
  }
}

std::vector<Program> pieces_of(const Program& program) {
  const std::size_t count = program.statements.size();
  if (count <= 2 * most_operations) return {program};
  std::vector<Program> made;
  LiveBlocks live;
  for (std::size_t i = 0; i < count; ++i) {
    if (i >= made.size() * count / pieces) {
      made.push_back(piece_of(program, i, live));
      if (made.size() % 2 == 0) make_short_of_memory(made.back());
    }
    live.see(program.statements[i]);
  }
  return made;
}

// False where it cannot be written, which is told.
bool write(const std::filesystem::path& path, const Tape& tape) {
  const std::vector<std::uint8_t> bytes = bytes_of(tape);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
  return file.good();
}

bool must_be_true(const Statement& statement) {
  return std::holds_alternative<Expect>(statement.operation) ||
         std::holds_alternative<ExpectSegment>(statement.operation) ||
         std::holds_alternative<ExpectBlock>(statement.operation);
}

// What the Program does, without what must be true of it.
std::optional<Program> read(const std::string& path) {
  const auto content = read_content(path);
  if (!content) {
    std::fprintf(stderr, "%s: %s\n", path.c_str(), content.error().c_str());
    return std::nullopt;
  }
  auto program = parse_program(*content);
  if (program) {
    Program kept = std::move(*program);
    std::erase_if(kept.statements, must_be_true);
    return kept;
  }
  std::fprintf(stderr, "%s:%d:%d: %s\n", path.c_str(), program.error().line, program.error().column,
               program.error().message.c_str());
  return std::nullopt;
}

struct Arguments {
  std::filesystem::path folder;
  std::vector<std::string> programs;
  std::uint64_t drawn = 0;
};

bool make(const Arguments& arguments) {
  std::error_code ignored;  // What cannot be written says so.
  std::filesystem::create_directories(arguments.folder, ignored);
  for (const std::string& path : arguments.programs) {
    const auto program = read(path);
    if (!program) return false;
    const std::string name = std::filesystem::path(path).filename();
    std::size_t tapes = 0;
    std::size_t operations = 0;
    std::size_t left_out = 0;
    for (const Program& piece : pieces_of(*program)) {
      const Encoded encoded = encode(piece);
      if (encoded.tape.ops.empty()) continue;
      operations += encoded.tape.ops.size();
      left_out += encoded.left_out;
      if (!write(arguments.folder / (name + "." + std::to_string(tapes++)), encoded.tape))
        return false;
    }
    std::printf("%s: %zu tapes, %zu operations, %zu statements left out\n", name.c_str(), tapes,
                operations, left_out);
  }
  for (std::uint64_t seed = 0; seed < arguments.drawn; ++seed) {
    const Tape tape = draw_tape(seed, most_operations);
    if (!write(arguments.folder / ("drawn." + std::to_string(seed)), tape)) return false;
  }
  return true;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Makes tapes for fuzz targets: of Programs, and drawn at random.");
  Arguments arguments;
  app.add_option("FOLDER", arguments.folder, "Where the tapes go")->required();
  app.add_option("PROGRAM", arguments.programs, "Programs, gzipped or not; long ones in pieces");
  app.add_option("--drawn", arguments.drawn, "So many more, drawn from the seeds 0, 1, ...");
  app.footer("Exit codes: 0 all were made; 2 wrong usage, or a file cannot be used.");
  if (const auto code = exit_code_of(app, count, words)) return *code;
  return make(arguments) ? 0 : 2;
}
