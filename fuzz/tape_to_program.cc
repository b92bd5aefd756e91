// Makes a Program of a tape that allocator_fuzzer crashed on or found something with, as short as
// delta debugging makes it. Each run is one of a child process, so it may be a finding of World, an
// invariant's abort, a sanitizer's report or a hang.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/findings.h"
#include "fuzz/fuzz_world.h"
#include "fuzz/in_child.h"
#include "testing/command_line.h"
#include "testing/op_run.h"
#include "testing/parser.h"
#include "testing/play.h"
#include "testing/printer.h"
#include "testing/shorten.h"
#include "testing/shrink.h"

namespace {

using cairn::fuzz::fuzz_world;
using cairn::fuzz::in_child;
using cairn::fuzz::Outcome;
using cairn::fuzz::SharedText;
using cairn::testing::Op;
using cairn::testing::Program;
using cairn::testing::Statement;
using cairn::testing::StepResult;
using cairn::testing::Tape;
using cairn::testing::WorldOptions;

constexpr int most_runs = 2000;

// Writes statements down as they go, the one that is under way too. Those that make no sense are
// left out.
class Scribe final : public cairn::testing::Observer {
 public:
  explicit Scribe(SharedText& text) : text_(text) {}

  void before(const Statement& statement) override { write(statement); }
  std::optional<cairn::testing::Difference> after(const Statement& statement,
                                                  const StepResult& result,
                                                  const cairn::testing::World&) override {
    Statement was = statement;
    if (result.kind == StepResult::Kind::failed) was.expected = result.error;
    write(was);
    written_ = text_.size();
    return std::nullopt;
  }

 private:
  void write(const Statement& statement) {
    text_.replace(written_, print_statement(statement) + "\n");
  }

  SharedText& text_;
  std::size_t written_ = 0;  // Of statements that were carried out.
};

Outcome outcome_of(const Tape& tape) {
  return in_child([&] { return !run_tape(tape, fuzz_world()).holds(); });
}

bool finds(const Program& program) {
  return play(program, fuzz_world()).result.kind == StepResult::Kind::finding;
}
// What is no Program as text, such as a segment without all of its blocks, finds nothing.
Outcome outcome_of(const Program& program) {
  if (!cairn::testing::parse_program(print_program(program))) return Outcome::holds;
  return in_child([&] { return finds(program); });
}

// What a run carries out, up to where it ends.
Program as_it_went(const std::function<void(const WorldOptions&)>& run) {
  SharedText text;
  static_cast<void>(in_child([&] {
    WorldOptions options = fuzz_world();
    options.make_observer = [&] { return std::make_unique<Scribe>(text); };
    run(options);
    return false;
  }));
  auto program = cairn::testing::parse_program(text.text());
  return program ? *std::move(program) : Program{};
}

Program shorten_by_runs(const Program& program, Outcome outcome) {
  const Program shorter{cairn::testing::shorten<Statement>(
      program.statements,
      [&](const std::vector<Statement>& left) { return outcome_of(Program{left}) == outcome; },
      most_runs)};
  Program told = as_it_went([&](const WorldOptions& options) { play(shorter, options); });
  return outcome_of(told) == outcome ? told : shorter;
}

Program shorten(const Program& program, Outcome outcome) {
  if (outcome == Outcome::hang) return program;  // Each run would last as long.
  const Program shorter = shorten_by_runs(program, outcome);
  if (outcome == Outcome::crash) return shorter;
  SharedText text;
  const Outcome shrunk = in_child([&] {
    text.replace(0, print_program(shrink(shorter, fuzz_world())));
    return false;
  });
  auto shrunk_program = cairn::testing::parse_program(text.text());
  const bool is_good =
      shrunk == Outcome::holds && shrunk_program && outcome_of(*shrunk_program) == outcome;
  return is_good ? *std::move(shrunk_program) : shorter;
}

Tape shorten(Tape tape, Outcome outcome) {
  if (outcome == Outcome::hang) return tape;
  tape.ops = cairn::testing::shorten<Op>(
      tape.ops,
      [&](const std::vector<Op>& left) { return outcome_of(Tape{tape.setup, left}) == outcome; },
      most_runs);
  return tape;
}

int convert(const std::string& from, const std::string& to) {
  std::ifstream stream(from, std::ios::binary);
  if (!stream) {
    std::fprintf(stderr, "%s: cannot be read\n", from.c_str());
    return 2;
  }
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(stream), {}};
  Tape tape = cairn::testing::tape_of(bytes);
  const Outcome outcome = outcome_of(tape);
  if (outcome == Outcome::holds) {
    std::fprintf(stderr, "%s: finds nothing\n", from.c_str());
    return 1;
  }
  const std::size_t operations = tape.ops.size();
  tape = shorten(std::move(tape), outcome);
  Program program = as_it_went([&](const WorldOptions& options) { run_tape(tape, options); });
  if (!cairn::fuzz::write_program(to, program)) return 2;
  if (outcome_of(program) != outcome) {
    std::fprintf(stderr, "%s: %s, but not of its Program: %s\n", from.c_str(), to_string(outcome),
                 to.c_str());
    return 2;
  }
  program = shorten(program, outcome);
  if (!cairn::fuzz::write_program(to, program)) return 2;
  std::fprintf(stderr, "%s: %s; of %zu operations %zu, as %zu statements: %s\nreplay: %s\n",
               from.c_str(), to_string(outcome), operations, tape.ops.size(),
               program.statements.size(), to.c_str(), cairn::fuzz::replay_command(to).c_str());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Makes a Program of a tape that allocator_fuzzer found something with.");
  std::string from;
  std::string to;
  app.add_option("TAPE", from, "What libFuzzer kept, such as crash-HASH")->required();
  app.add_option("-o", to, "Where the Program goes (default: TAPE.program)");
  app.footer(
      "Exit codes: 0 a Program was written that still finds something; 1 the tape finds nothing;\n"
      "2 it cannot be read, the Program not be written, or what it finds needs more than its "
      "Program.");
  if (const auto code = cairn::testing::exit_code_of(app, count, arguments)) return *code;
  return convert(from, to.empty() ? from + ".program" : to);
}
