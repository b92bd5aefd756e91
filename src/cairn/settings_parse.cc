#include "cairn/settings_parse.h"

#include <utility>

namespace cairn::settings {
namespace {

std::string sentence(std::string_view key, const Token& found) {
  std::string text = "settings: ";
  if (!key.empty()) text += "key " + quoted(key) + ": ";
  const bool at_end = found.kind == Token::Kind::end;
  text += "found " + (at_end ? "the end of the text" : quoted(found.written));
  return text + " at position " + std::to_string(found.position);
}

}  // namespace

bool Parse::fail(const Token& found, std::string allowed) {
  error.key = key;
  error.value = found.written;
  error.position = found.position;
  error.message = sentence(key, found) + ", expected " + allowed;
  error.allowed = std::move(allowed);
  return false;
}

void Parse::ignore(const Token& found, std::string_view allowed) {
  warnings.push_back(sentence(key, found) + ", ignored: expected " + std::string(allowed));
}

std::optional<std::vector<Pair>> read_pairs(Parse& parse) {
  std::vector<Pair> pairs;
  const auto expect = [&parse](Token::Kind kind, const char* allowed) {
    const Token token = parse.in.take();
    return token.kind == kind || parse.fail(token, allowed);
  };
  if (!expect(Token::Kind::open, "'[', which opens a list")) return std::nullopt;
  if (parse.in.skip(Token::Kind::close)) return pairs;
  do {
    Pair pair;
    pair.name = parse.in.peek();
    if (!expect(Token::Kind::word, "a name, of a pair name:value")) return std::nullopt;
    if (!expect(Token::Kind::colon, "':' between name and value")) return std::nullopt;
    pair.value = parse.in.peek();
    if (!expect(Token::Kind::word, "a value, of a pair name:value")) return std::nullopt;
    pairs.push_back(pair);
  } while (parse.in.skip(Token::Kind::comma));
  if (!expect(Token::Kind::close, "',' or ']' after a pair")) return std::nullopt;
  return pairs;
}

}  // namespace cairn::settings
