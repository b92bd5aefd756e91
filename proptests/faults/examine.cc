#include "examine.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/units.h"
#include "testing/shrink.h"

namespace cairn::faults {
namespace {

using testing::Alloc;
using testing::Fault;
using testing::Free;
using testing::NamedTarget;
using testing::Program;
using testing::SetDevice;
using testing::Statement;
using testing::StepResult;
using testing::World;
using testing::WorldOptions;
using Kind = StepResult::Kind;

StepResult finding(std::string expected, std::string found) {
  StepResult result;
  result.kind = Kind::finding;
  result.expected = std::move(expected);
  result.found = std::move(found);
  return result;
}

Statement statement_of(testing::Operation operation) {
  Statement statement;
  statement.operation = std::move(operation);
  return statement;
}

template <class... Kinds>
bool is_any_of(const Statement& statement) {
  return (std::holds_alternative<Kinds>(statement.operation) || ...);
}

bool is_expectation(const Statement& statement) {
  return is_any_of<testing::Expect, testing::ExpectSegment, testing::ExpectBlock>(statement);
}

Program without_faults(const Program& program) {
  Program plain;
  for (const Statement& statement : program.statements) {
    if (!is_any_of<Fault>(statement)) plain.statements.push_back(statement);
  }
  return plain;
}

class Examination {
 public:
  Examination(const Program& program, const Plant& plant)
      : program_(program), world_(program, options(plant, examined_.watched)) {}

  Examined run(Ending ending) && {
    bool holds = play();
    examined_.calls_of_ending = examined_.watched.calls.size();
    if (holds) holds = ending == Ending::recovery ? recover() : destroy();
    if (holds && !examined_.watched.wrong.empty())
      examined_.result = finding("no call for a lost device", examined_.watched.wrong.front());
    return std::move(examined_);
  }

 private:
  static WorldOptions options(const Plant& plant, Watched& watched) {
    WorldOptions options;
    options.meddle = plant.meddle;
    options.wrap_driver = [&watched, &plant](Driver& below) -> std::unique_ptr<Driver> {
      if (plant.watch) return plant.watch(below, watched);
      return std::make_unique<Watch>(below, watched);
    };
    return options;
  }

  // False where something is found.
  bool take(StepResult result) {
    if (result.kind == Kind::finding) examined_.result = std::move(result);
    return examined_.result.kind != Kind::finding;
  }

  bool play() {
    for (Statement statement : program_.statements) {
      if (is_expectation(statement)) continue;
      statement.expected = ErrorCode::none;
      StepResult result = world_.step(statement);
      if (result.kind == Kind::mistake || result.kind == Kind::unsupported) continue;
      examined_.as_it_went.statements.push_back(std::move(statement));
      if (!take(std::move(result))) return false;
    }
    return true;
  }

  bool recover() {
    world_.clear_faults();
    if (!allocate_and_free("recovered", false)) return false;
    if (!take(world_.wind_down())) return false;
    if (!allocate_and_free("again", true)) return false;
    if (!take(world_.wind_down())) return false;
    return take(world_.end()) && check_left_over();
  }

  // A small and a large block on each device. Before all was given back they may find no room.
  bool allocate_and_free(const std::string& name, bool must_have_room) {
    for (DeviceIndex device = 0; device < world_.device_count(); ++device) {
      for (const Bytes size : {Bytes{512}, Bytes{3 << 20}}) {
        const std::string block = name + std::to_string(device) + (size.count > 512 ? "l" : "s");
        if (!take(world_.step(statement_of(SetDevice{device})))) return false;
        const StepResult got = world_.step(statement_of(Alloc{block, size, "s0", {}, {}}));
        if (!take(got) || !is_as_promised(got, device, must_have_room)) return false;
        if (got.kind != Kind::ok) continue;
        const auto freed = world_.step(statement_of(Free{NamedTarget{block, {}}, {}, {}, {}}));
        if (freed.kind != Kind::ok) return take(finding("a free that succeeds", freed.found));
      }
    }
    return true;
  }

  bool is_as_promised(const StepResult& got, DeviceIndex device, bool must_have_room) {
    const bool is_lost = examined_.watched.lost.contains(device);
    const bool may_be_lost = examined_.watched.may_be_lost(device);
    const bool is_short = got.error == ErrorCode::out_of_memory || got.error == ErrorCode::rejected;
    const std::string where = " on device " + std::to_string(device);
    if (is_lost && got.error != ErrorCode::cuda_error)
      return take(finding("cuda_error of what is lost" + where, got.found));
    if (may_be_lost && got.error == ErrorCode::cuda_error) return true;
    if (got.kind != Kind::ok && (must_have_room || !is_short))
      return take(
          finding("an allocation that succeeds after the faults" + where, got.found + got.why));
    return true;
  }

  bool destroy() {
    for (const std::string& name : names()) {
      if (!take(world_.step(statement_of(Free{NamedTarget{name, {}}, {}, {}, {}})))) return false;
    }
    StepResult ended = world_.end();
    if (ended.kind == Kind::finding && !is_explained(ended)) return take(std::move(ended));
    return check_left_over();
  }

  // What stays out since it failed to go back, or goes back early since nothing could be waited
  // for, is as promised. That nothing else stays out is for check_left_over().
  bool is_explained(const StepResult& ended) const {
    const Watched& watched = examined_.watched;
    if (ended.expected == "violations == 0") return watched.has_failed_wait();
    return ended.expected.starts_with("all memory of device") ||
           ended.expected == "no event at the end";
  }

  bool check_left_over() {
    const auto left = examined_.watched.left_over();
    return left.empty() || take(finding("nothing left over at the end", left.front()));
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Statement& statement : program_.statements) {
      if (const auto* alloc = std::get_if<Alloc>(&statement.operation))
        names.push_back(alloc->name);
      if (const auto* block = std::get_if<testing::BlockDecl>(&statement.operation))
        if (block->name) names.push_back(*block->name);
    }
    std::ranges::sort(names);
    const auto [first, last] = std::ranges::unique(names);
    names.erase(first, last);
    return names;
  }

  const Program& program_;
  Examined examined_;
  World world_;  // Ends before what its driver writes to.
};

}  // namespace

Examined examine(const Program& program, Ending ending, const Plant& plant) {
  return Examination(program, plant).run(ending);
}

Program shortest(const Program& program, Ending ending, const Plant& plant) {
  const std::string bucket = testing::bucket_of(examine(program, ending, plant).result);
  return testing::shrink(program, [&](const Program& candidate) -> std::optional<Program> {
    Examined examined = examine(candidate, ending, plant);
    if (testing::bucket_of(examined.result) != bucket) return std::nullopt;
    const bool is_of_faults = candidate != without_faults(candidate);
    if (is_of_faults &&
        examine(without_faults(candidate), ending, plant).result.kind == Kind::finding)
      return std::nullopt;
    return std::move(examined.as_it_went);
  });
}

Program without_expectations(const Program& program) {
  Program bare;
  for (const Statement& statement : program.statements) {
    if (is_expectation(statement)) continue;
    bare.statements.push_back(statement);
    bare.statements.back().expected = ErrorCode::none;
  }
  return bare;
}

}  // namespace cairn::faults
