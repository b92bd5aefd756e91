#include "testing/parser.h"

#include <algorithm>
#include <set>

#include "testing/parser_statements.h"

namespace cairn::testing {
namespace {

const StatementRule* find_rule(std::string_view word) {
  for (const auto table : {world_statements(), allocator_statements(), check_statements()})
    for (const StatementRule& rule : table)
      if (rule.word == word) return &rule;
  return nullptr;
}

// The blocks that follow a segment line and tile it, be the segment declared or expected.
class Tiling {
 public:
  // Takes the next statement of the text; fails where a block has no place or does not fit.
  void add(Line& line, const Statement& statement);
  // No more blocks can follow: fails where the segment is not covered.
  std::optional<ParseError> end();

 private:
  struct Open {
    int line;
    int column;
    Bytes size;
    bool is_expected;
    Bytes covered{};
    bool ends_free = false;  // The last block declared was a free one.
  };
  void add_block(Line& line, Word at, Bytes size, bool is_expected);

  std::optional<Open> open_;
};

class ProgramParser {
 public:
  Result<Program, ParseError> parse(std::string_view text);

 private:
  void parse_line(Word text);
  void check_place(Line& line, const StatementRule& rule, const Statement& statement);
  void add(Line& line, Statement statement);
  void close_body(Word brace);
  void fail(const std::optional<ParseError>& error) {
    if (!error_) error_ = error;
  }

  Program program_;
  int line_number_ = 0;
  bool operations_begun_ = false;
  std::set<DeviceIndex> declared_devices_;
  Tiling tiling_;
  std::optional<Statement> open_body_;  // A `during` or `parallel` whose } is to come.
  std::optional<ParseError> error_;
};

std::vector<Statement>& body_of(Statement& statement) {
  if (auto* during = std::get_if<During>(&statement.operation)) return during->body;
  return std::get<Parallel>(statement.operation).body;
}

bool has_body(const Statement& statement) {
  return std::holds_alternative<During>(statement.operation) ||
         std::holds_alternative<Parallel>(statement.operation);
}

// Without the comment; what cannot be printed has no place in a statement.
Word without_comment(Word text) { return text.part(0, text.text.find('#')); }

std::optional<Word> find_control_character(Word text) {
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && !is_blank(c)) || byte == 0x7f;
  };
  const auto found = std::ranges::find_if(text.text, is_control);
  if (found == text.text.end()) return std::nullopt;
  return text.part(static_cast<std::size_t>(found - text.text.begin()), 1);
}

// Splits at the last `->` between blanks: the statement, and what follows the arrow.
std::optional<Word> split_at_arrow(Word& text) {
  constexpr std::string_view arrow = "->";
  for (auto at = text.text.rfind(arrow); at != std::string_view::npos && at > 0;
       at = text.text.rfind(arrow, at - 1)) {
    const Word after = text.part(at + arrow.size());
    const bool follows_blank = is_blank(text.text[at - 1]);
    if (follows_blank && (after.text.empty() || is_blank(after.text.front()))) {
      text = text.part(0, at);
      return trimmed(after);
    }
  }
  return std::nullopt;
}

// Takes `T12:` from the front of the text. T0 is the main thread, which needs no prefix.
std::optional<int> take_thread(Line& line, Word& text) {
  const auto colon = text.text.find(':');
  if (!text.text.starts_with('T') || colon == std::string_view::npos || colon < 2)
    return std::nullopt;
  const Word digits = text.part(1, colon - 1);
  if (!std::ranges::all_of(digits.text, [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  const int number = line.thread(digits);
  text = trimmed(text.part(colon + 1));
  if (number == 0) return std::nullopt;
  return number;
}

ErrorCode parse_failure(Line& line, const StatementRule& rule, Word error_word) {
  if (rule.place == Place::operation) return line.one_of(error_words, error_word);
  line.fail(error_word, std::string(rule.word) + " cannot fail, so no -> may follow");
  return ErrorCode::none;
}

void Tiling::add(Line& line, const Statement& statement) {
  const Word at{{}, statement.column};
  if (const auto* block = std::get_if<BlockDecl>(&statement.operation)) {
    add_block(line, at, block->size, false);
    if (line.error()) return;
    if (!block->name && open_->ends_free)
      line.fail(at, "two free blocks side by side would be one");
    open_->ends_free = !block->name;
    return;
  }
  if (const auto* block = std::get_if<ExpectBlock>(&statement.operation))
    return add_block(line, at, block->size, true);
  open_.reset();
  if (const auto* segment = std::get_if<SegmentDecl>(&statement.operation))
    open_ = Open{statement.line, statement.column, segment->size, false};
  if (const auto* segment = std::get_if<ExpectSegment>(&statement.operation))
    open_ = Open{statement.line, statement.column, segment->size, true};
}

void Tiling::add_block(Line& line, Word at, Bytes size, bool is_expected) {
  if (!open_ || open_->is_expected != is_expected)
    return line.fail(at, "a block line follows the line of its segment or another of its blocks");
  const Bytes left = open_->size - open_->covered;
  if (size > left)
    return line.fail(at, "the block is larger than the " + std::to_string(left.count) +
                             " bytes that are left of its segment");
  open_->covered += size;
}

std::optional<ParseError> Tiling::end() {
  if (!open_ || open_->covered == open_->size) return std::nullopt;
  return ParseError{open_->line, open_->column,
                    "the blocks of this segment cover " + std::to_string(open_->covered.count) +
                        " of its " + std::to_string(open_->size.count) + " bytes"};
}

Result<Program, ParseError> ProgramParser::parse(std::string_view text) {
  while (!text.empty() && !error_) {
    const auto end = text.find('\n');
    ++line_number_;
    parse_line({text.substr(0, end), 1});
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  fail(tiling_.end());
  if (open_body_)
    fail(ParseError{open_body_->line, open_body_->column, "no line with a } alone closes this"});
  if (error_) return Failure{*error_};
  return std::move(program_);
}

void ProgramParser::parse_line(Word text) {
  text = trimmed(without_comment(text));
  if (text.text.empty()) return;
  Line whole(text, line_number_);
  Statement statement;
  if (const auto control = find_control_character(text))
    whole.fail(*control, quoted(control->text) + " has no place in a statement");
  if (text.text == "}") return close_body(text);
  statement.thread = take_thread(whole, text);
  const auto error_word = split_at_arrow(text);
  if (whole.error()) return fail(whole.error());

  Line line(text, line_number_);
  const Word word = line.take("a statement");
  const StatementRule* rule = find_rule(word.text);
  if (rule == nullptr) line.fail(word, quoted(word.text) + " is no statement");
  if (line.error()) return fail(line.error());
  statement.line = line_number_;
  statement.column = word.column;
  statement.operation = rule->parse(line);
  line.finish();
  if (error_word) statement.expected = parse_failure(line, *rule, *error_word);
  if (!line.error()) check_place(line, *rule, statement);
  if (!line.error()) add(line, std::move(statement));
  fail(line.error());
}

void ProgramParser::check_place(Line& line, const StatementRule& rule, const Statement& statement) {
  const Word at{{}, statement.column};
  const std::string what(rule.word);
  const bool is_declaration = rule.place == Place::declaration;
  if (is_declaration && operations_begun_)
    line.fail(at, what + " must stand before the first operation");
  if ((is_declaration || rule.word == "parallel") && statement.thread)
    line.fail(at, what + " belongs to no thread");
  if (std::holds_alternative<ThreadExit>(statement.operation) && !statement.thread)
    line.fail(at, "the main thread cannot end; T1: or another thread must stand before exit");
  if (has_body(statement) && open_body_) line.fail(at, what + " cannot stand within braces");
  if (const auto* gpu = std::get_if<GpuDecl>(&statement.operation))
    if (!declared_devices_.insert(gpu->device).second)
      line.fail(at, "device " + std::to_string(gpu->device) + " was declared above");
  if (!is_declaration && rule.place != Place::setting) operations_begun_ = true;
}

void ProgramParser::add(Line& line, Statement statement) {
  const bool is_block = std::holds_alternative<BlockDecl>(statement.operation) ||
                        std::holds_alternative<ExpectBlock>(statement.operation);
  if (!is_block) fail(tiling_.end());
  tiling_.add(line, statement);
  if (line.error() || error_) return;
  if (has_body(statement)) {
    open_body_ = std::move(statement);
  } else if (open_body_) {
    body_of(*open_body_).push_back(std::move(statement));
  } else {
    program_.statements.push_back(std::move(statement));
  }
}

void ProgramParser::close_body(Word brace) {
  fail(tiling_.end());
  if (!open_body_) return fail(ParseError{line_number_, brace.column, "no { is open here"});
  program_.statements.push_back(std::move(*open_body_));
  open_body_.reset();
  tiling_ = {};
}

}  // namespace

Result<Program, ParseError> parse_program(std::string_view text) {
  return ProgramParser().parse(text);
}

}  // namespace cairn::testing
