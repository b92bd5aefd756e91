#include "testing/run_log.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/in_words.h"
#include "base/stat_members.h"
#include "driver/call_text.h"
#include "testing/printer.h"

namespace cairn::testing {
namespace {

constexpr std::uint64_t statements_between_maps = 32;
// From here on numbers of streams tell of threads of the process, the simulated GPU's and Cairn's.
constexpr std::uint64_t first_of_threads = std::uint64_t{1} << 60;

const char* to_string(StepResult::Kind kind) {
  constexpr const char* words[] = {"ok", "failed", "finding", "mistake", "unsupported"};
  return words[static_cast<std::size_t>(kind)];
}

std::string in_words(const StepResult& result) {
  std::string text = std::string("  ") + to_string(result.kind);
  if (result.kind == StepResult::Kind::finding)
    text += ": expected " + result.expected + ", found " + result.found;
  if (!result.why.empty()) text += ": " + result.why;
  return text + "\n";
}

// A body within a statement: its lines as they went, and whose turn it was.
std::string in_words(const RanBody& ran) {
  std::string text = ran.is_parallel ? "  parallel" : "  during " + std::to_string(ran.which);
  for (const int thread : ran.schedule) text += " " + std::to_string(thread);
  text += ran.made_no_sense ? " made no sense\n" : "\n";
  for (const Statement& statement : ran.body) text += "    " + print_statement(statement) + "\n";
  return text;
}

// Every number of the statistics, under its name.
using Numbers = std::vector<std::pair<std::string, std::int64_t>>;

void add(Numbers& numbers, const std::string& name, const Stat& stat) {
  numbers.emplace_back(name + ".current", stat.current);
  numbers.emplace_back(name + ".peak", stat.peak);
  numbers.emplace_back(name + ".allocated", stat.allocated);
  numbers.emplace_back(name + ".freed", stat.freed);
}

Numbers numbers_of(const DeviceStats& stats) {
  Numbers numbers;
  for (const auto& [name, member] : array_members) {
    add(numbers, std::string(name) + ".all", (stats.*member).all);
    add(numbers, std::string(name) + ".small_pool", (stats.*member).small_pool);
    add(numbers, std::string(name) + ".large_pool", (stats.*member).large_pool);
  }
  for (const auto& [name, member] : stat_members) add(numbers, name, stats.*member);
  for (const auto& [name, member] : count_members) numbers.emplace_back(name, stats.*member);
  numbers.emplace_back("max_split_size", stats.max_split_size_bytes);
  return numbers;
}

// Writes down what it sees of a World.
class Scribe final : public Observer {
 public:
  explicit Scribe(std::shared_ptr<std::string> text) : text_(std::move(text)) {}

  std::optional<Difference> after(const Statement&, const StepResult&,
                                  const World& world) override {
    write_deed(world.deed());
    write_statistics(world);
    if (++statements_ % statements_between_maps == 0) write_maps(world);
    return std::nullopt;
  }

  std::optional<Difference> after_wind_down(const World& world) override {
    write_statistics(world);
    write_maps(world);
    return std::nullopt;
  }

 private:
  void say(const std::string& line) { text_->append("  ").append(line) += '\n'; }

  std::uint64_t known(std::uint64_t stream) {
    if (stream < first_of_threads) return stream;
    return first_of_threads + known_.emplace(stream, known_.size()).first->second;
  }

  void write_deed(const Deed& deed) {
    for (RecordedCall call : deed.calls) {
      call.stream = known(call.stream);
      call.stream_id = known(call.stream_id);
      say(text_of(call));
    }
    if (deed.address != Address{}) say("address " + cairn::in_words(deed.address));
    if (!deed.error) return;
    say(std::string(cairn::to_string(deed.error.code)) + " " +
        std::to_string(deed.error.cuda_code) + ": " + deed.error.message);
  }

  void write_statistics(const World& world) {
    const std::vector<DeviceStats> stats = world.stats();
    before_.resize(stats.size());
    for (std::size_t device = 0; device < stats.size(); ++device) {
      Numbers now = numbers_of(stats[device]);
      std::string changed;
      for (std::size_t i = 0; i < now.size(); ++i) {
        const std::int64_t before = before_[device].empty() ? 0 : before_[device][i].second;
        if (now[i].second != before)
          changed += " " + now[i].first + "=" + std::to_string(now[i].second);
      }
      if (!changed.empty()) say("device " + std::to_string(device) + changed);
      before_[device] = std::move(now);
    }
  }

  void write_maps(const World& world) {
    for (DeviceIndex device = 0; device < world.device_count(); ++device) {
      for (const SegmentInfo& segment : world.map(device)) write(segment);
    }
  }

  void write(const SegmentInfo& segment) {
    std::string line = "segment device=" + std::to_string(segment.device) + " " +
                       cairn::in_words(Address{segment.address}) + "+" +
                       std::to_string(segment.size_bytes) +
                       " stream=" + cairn::in_words(Address{known(segment.stream)}) +
                       (segment.is_large ? " large:" : " small:");
    for (const BlockInfo& block : segment.blocks) {
      line += " " + cairn::in_words(Address{block.address}) + "+" +
              std::to_string(block.size_bytes) + "/" + std::to_string(block.requested_size_bytes) +
              "," + cairn::to_string(block.state);
    }
    say(line);
  }

  std::shared_ptr<std::string> text_;
  std::map<std::uint64_t, std::uint64_t> known_;  // Streams of threads, by their turn.
  std::vector<Numbers> before_;                   // By device.
  std::uint64_t statements_ = 0;
};

WorldOptions with_scribe(WorldOptions options, const std::shared_ptr<std::string>& text) {
  options.make_observer = [text] { return std::make_unique<Scribe>(text); };
  return options;
}

}  // namespace

RunLog::RunLog(Program program, WorldOptions options)
    : program_(std::move(program)),
      text_(std::make_shared<std::string>()),
      play_(program_, with_scribe(std::move(options), text_)) {}

bool RunLog::step() {
  if (is_over_) return false;
  if (next_ == program_.statements.size()) {
    *text_ += "end\n";
    play_.finish();
    conclude(false);
    return true;
  }
  const Statement& statement = program_.statements[next_++];
  *text_ += std::to_string(next_) + ": " + print_statement(statement) + "\n";
  const bool goes_on = play_.step(statement);
  for (const RanBody& ran : play_.bodies()) *text_ += in_words(ran);
  conclude(goes_on);
  return true;
}

void RunLog::conclude(bool goes_on) {
  *text_ += in_words(play_.result());
  is_over_ = !goes_on;
}

std::string log_of(const Program& program, const WorldOptions& options) {
  RunLog log(program, options);
  while (log.step()) {
  }
  return log.text();
}

}  // namespace cairn::testing
