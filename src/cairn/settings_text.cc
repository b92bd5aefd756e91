#include "cairn/settings_text.h"

#include <system_error>

#include "base/decimal.h"

namespace cairn::settings {
namespace {

bool is_space(char c) { return c == ' ' || ('\t' <= c && c <= '\r'); }

Token::Kind kind_of(char c) {
  switch (c) {
    case ',':
      return Token::Kind::comma;
    case ':':
      return Token::Kind::colon;
    case '[':
      return Token::Kind::open;
    case ']':
      return Token::Kind::close;
    default:
      return Token::Kind::word;
  }
}

template <class Number>
std::optional<Number> all_of(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = number_from_chars(text.data(), end, number);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

Text::Text(std::string_view given) : given_(given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (is_space(given[i])) continue;
    bare_.push_back(given[i]);
    positions_.push_back(i);
  }
  positions_.push_back(given.size());
}

Token Text::token_at(std::size_t index) const {
  if (index >= bare_.size()) return {Token::Kind::end, {}, {}, given_.size()};
  const Token::Kind kind = kind_of(bare_[index]);
  std::size_t end = index + 1;
  if (kind == Token::Kind::word) {
    end = std::string_view(bare_).find_first_of(",:[]", index);
    if (end == std::string_view::npos) end = bare_.size();
  }
  const std::size_t first = positions_[index];
  const std::size_t last = positions_[end - 1];
  return {kind, std::string_view(bare_).substr(index, end - index),
          given_.substr(first, last + 1 - first), first};
}

Token Reader::take() {
  const Token token = peek();
  index_ += token.text.size();
  return token;
}

bool Reader::skip(Token::Kind kind) {
  if (peek().kind != kind) return false;
  take();
  return true;
}

Value Reader::take_value() {
  const Token first = peek();
  if (first.kind != Token::Kind::word && first.kind != Token::Kind::open) return {};
  std::size_t depth = 0;  // Counted, not descended into: a hostile text nests as deep as it likes.
  Token last;
  do {
    last = take();
    if (last.kind == Token::Kind::open) ++depth;
    if (last.kind == Token::Kind::close) --depth;
  } while (depth > 0 && last.kind != Token::Kind::end);
  const std::size_t end = last.position + last.written.size();
  return {text_->given().substr(first.position, end - first.position), depth == 0};
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  return all_of<std::uint64_t>(text);
}

std::optional<double> decimal_number(std::string_view text) {
  // std::from_chars would also take a minus, "inf" and "nan".
  const bool begins_well =
      !text.empty() && (text.front() == '.' || ('0' <= text.front() && text.front() <= '9'));
  return begins_well ? all_of<double>(text) : std::nullopt;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 64;
  constexpr char hex[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      result += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    } else {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result + (text.size() > longest ? "...\"" : "\"");
}

}  // namespace cairn::settings
