#include "tool/picture.h"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "cairn/version.h"

namespace cairn::tool {
namespace {

using Json = nlohmann::ordered_json;

// Writes the moments, each as
//
//   operation of moments but the first:
//     kind line          kind: as ReplayOperation::Kind, or 5: alloc that failed as it had to
//     alloc: size stream device slot; use: stream device slot; free: slot
//   address              of the block
//   reserved active allocated requested largest_free
//   calls kind...        their number, then each
//   changes change...    likewise, each one of
//     0 segment size stream device is_large blocks block...   added
//     1 segment                                               removed
//     2 first_block blocks block...                           retiled
//   block: size state, and where it is not free size - requested
//
// Line, slot, addresses and totals are given by how much they differ from the last one of their
// kind. A stream is its place in the list of `run`.
class LogWriter {
 public:
  LogWriter(const ReplayPlan& plan, const Recording& recording)
      : plan_(plan), recording_(recording) {
    for (std::size_t i = 0; i < recording.stream_ids.size(); ++i) {
      stream_index_.emplace(recording.stream_ids[i], i);
    }
  }

  std::string write() {
    for (std::size_t i = 0; i < recording_.moments.size(); ++i) {
      if (i > 0) add(plan_.operations[i - 1]);
      add(recording_.moments[i]);
    }
    return std::move(text_);
  }
  std::uint64_t blocks() const { return blocks_; }
  std::uint64_t changes() const { return changes_; }

 private:
  void number(std::int64_t value) {
    constexpr int base = 36;
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    text_.append(digits.data(), end);
    text_ += ' ';
  }
  void number(std::uint64_t value) { number(static_cast<std::int64_t>(value)); }
  void number_since(std::uint64_t value, std::uint64_t& last) {
    number(static_cast<std::int64_t>(value - last));
    last = value;
  }

  void add(const ReplayOperation& operation) {
    using Kind = ReplayOperation::Kind;
    constexpr std::uint64_t failed_alloc = static_cast<std::uint64_t>(Kind::next_segment) + 1;
    static_assert(failed_alloc == 5, "the kinds are those of picture_run.js");
    const bool is_alloc = operation.kind == Kind::alloc;
    const bool is_use = operation.kind == Kind::use;
    number(operation.must_fail ? failed_alloc : static_cast<std::uint64_t>(operation.kind));
    number_since(static_cast<std::uint64_t>(operation.line), last_line_);
    if (is_alloc) number(operation.size.count);
    if (is_alloc || is_use) {
      number(operation.stream);
      number(static_cast<std::uint64_t>(operation.device));
    }
    if (is_alloc || is_use || operation.kind == Kind::free) {
      number_since(operation.slot, last_slot_);
    }
  }

  void add(const Moment& moment) {
    number_since(moment.address.value, last_address_);
    number_since(moment.totals.reserved, last_.reserved);
    number_since(moment.totals.active, last_.active);
    number_since(moment.totals.allocated, last_.allocated);
    number_since(moment.totals.requested, last_.requested);
    number_since(moment.totals.largest_free, last_.largest_free);
    number(moment.calls.size());
    for (const DriverCall call : moment.calls) number(static_cast<std::uint64_t>(call));
    number(moment.changes.size());
    for (const MapChange& change : moment.changes) add(change);
  }

  void add(const MapChange& change) {
    ++changes_;
    number(static_cast<std::uint64_t>(change.kind));
    const SegmentInfo& segment = change.segment;
    const bool is_retiled = change.kind == MapChange::Kind::retiled;
    number_since(is_retiled ? segment.blocks.front().address : segment.address, last_address_);
    if (change.kind == MapChange::Kind::removed) return;
    if (!is_retiled) {
      number(segment.size_bytes);
      number(stream_index_.at(segment.stream));
      number(static_cast<std::uint64_t>(segment.device));
      number(std::uint64_t{segment.is_large});
    }
    number(segment.blocks.size());
    for (const BlockInfo& block : segment.blocks) add(block);
  }

  void add(const BlockInfo& block) {
    ++blocks_;
    number(block.size_bytes);
    number(static_cast<std::uint64_t>(block.state));
    if (block.state == BlockState::inactive) return;
    number(block.size_bytes - block.requested_size_bytes);
  }

  const ReplayPlan& plan_;
  const Recording& recording_;
  std::map<std::uint64_t, std::uint64_t> stream_index_;
  std::string text_;
  Totals last_;
  std::uint64_t last_line_ = 0;
  std::uint64_t last_slot_ = 0;
  std::uint64_t last_address_ = 0;
  std::uint64_t blocks_ = 0;
  std::uint64_t changes_ = 0;
};

// Can stand within a <script>: no tag begins in it. In JSON `<` stands in strings alone.
std::string within_script(std::string json) {
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos;) {
    json.replace(at, 1, "\\u003c");
  }
  return json;
}

std::string run_of(const ReplayPlan& plan, const Recording& recording, const LogWriter& log) {
  Json streams = Json::array();
  for (std::size_t i = 0; i < plan.streams.size(); ++i) {
    streams.push_back({{"name", plan.stream_names[i]}, {"id", recording.stream_ids[i]}});
  }
  Json calls = Json::array();
  for (int i = 0; i < driver_call_count; ++i)
    calls.push_back(to_string(static_cast<DriverCall>(i)));
  Json checks = Json::array();
  for (const MapCheck& check : recording.checks) checks.push_back({check.moment, check.digest});
  const Json run{{"version", CAIRN_VERSION}, {"devices", plan.devices.size()},
                 {"streams", streams},       {"names", plan.slot_names},
                 {"calls", calls},           {"moments", recording.moments.size()},
                 {"blocks", log.blocks()},   {"changes", log.changes()},
                 {"checks", checks}};
  return run.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string picture_page(const ReplayPlan& plan, const Recording& recording,
                         const std::string& figures) {
  LogWriter log(plan, recording);
  const std::string moments = log.write();
  const std::pair<std::string_view, std::string> data[] = {
      {"<!-- figures -->", within_script(figures)},
      {"<!-- run -->", within_script(run_of(plan, recording, log))},
      {"<!-- log -->", moments}};
  std::string page;
  std::string_view rest = picture_template;
  for (const auto& [mark, text] : data) {
    const std::size_t at = rest.find(mark);
    page += rest.substr(0, at);
    page += text;
    rest.remove_prefix(at + mark.size());
  }
  return page.append(rest);
}

}  // namespace cairn::tool
