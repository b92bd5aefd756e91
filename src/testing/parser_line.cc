#include "testing/parser_line.h"

#include <algorithm>

namespace cairn::testing {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

Word trimmed(Word word) {
  std::size_t begin = 0;
  std::size_t end = word.text.size();
  while (begin < end && is_blank(word.text[begin])) ++begin;
  while (begin < end && is_blank(word.text[end - 1])) --end;
  return word.part(begin, end - begin);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 48;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result = "'";
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else {
      result.append("\\x").append({digits[byte >> 4], digits[byte & 15]});
    }
  }
  return result.append(text.size() > longest ? "...'" : "'");
}

Word Line::peek() const {
  if (error_) return {{}, rest_.column};
  const auto end = std::ranges::find_if(rest_.text, is_blank);
  return rest_.part(0, static_cast<std::size_t>(end - rest_.text.begin()));
}

Word Line::take(std::string_view what) {
  const Word word = peek();
  if (word.text.empty()) fail(rest_, std::string(what) + " is missing");
  rest_ = trimmed(rest_.part(word.text.size()));
  return word;
}

Word Line::take_rest(std::string_view what) {
  if (at_end()) fail(rest_, std::string(what) + " is missing");
  if (error_) return {{}, rest_.column};
  return std::exchange(rest_, rest_.part(rest_.text.size()));
}

bool Line::take_if(std::string_view word) {
  if (at_end() || peek().text != word) return false;
  rest_ = trimmed(rest_.part(word.size()));
  return true;
}

bool Line::take_prefix(std::string_view text) {
  if (at_end() || !rest_.text.starts_with(text)) return false;
  rest_ = trimmed(rest_.part(text.size()));
  return true;
}

void Line::finish() {
  if (!at_end()) fail(rest_, "nothing may follow here, but " + quoted(rest_.text) + " does");
}

void Line::fail(Word at, std::string message) {
  if (!error_) error_ = ParseError{number_, at.column, std::move(message)};
}

LineOptions::LineOptions(Line& line, std::initializer_list<std::string_view> allowed) {
  while (!line.at_end() && !line.peek().text.starts_with('=')) {
    const Word word = line.take("an option");
    const auto equals = word.text.find('=');
    const auto key_size = equals == std::string_view::npos ? equals : equals + 1;
    const Word key = word.part(0, key_size);
    if (std::ranges::find(allowed, key.text) == allowed.end()) {
      line.fail(word, quoted(word.text) + " is no option of this statement");
    } else if (value(key.text)) {
      line.fail(word, quoted(key.text) + " is given twice");
    }
    found_.emplace_back(key.text, word.part(key.text.size()));
  }
}

std::optional<Word> LineOptions::value(std::string_view key) const {
  const auto found = std::ranges::find(found_, key, &std::pair<std::string_view, Word>::first);
  if (found == found_.end()) return std::nullopt;
  return found->second;
}

}  // namespace cairn::testing
