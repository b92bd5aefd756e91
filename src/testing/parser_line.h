// One line of a Program while it is read, word by word. The first thing that is wrong with it is
// kept; after that the line looks empty and every reading gives an empty value, so that the code
// which reads a statement need not look for errors, only the one who asked for the statement.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testing/parser.h"
#include "testing/parser_words.h"

namespace cairn::testing {

// Part of a line, and where it stands.
struct Word {
  std::string_view text;
  int column = 1;

  Word part(std::size_t begin, std::size_t length = std::string_view::npos) const {
    return {text.substr(begin, length), column + static_cast<int>(begin)};
  }
};

bool is_blank(char c);
Word trimmed(Word word);
// In quotes, with what cannot be printed escaped and what is long cut.
std::string quoted(std::string_view text);

class Line {
 public:
  Line(Word text, int number) : rest_(trimmed(text)), number_(number) {}

  bool at_end() const { return error_ || rest_.text.empty(); }
  Word peek() const;                        // The next word; empty at the end.
  Word take(std::string_view what);         // Likewise, and goes on; at the end `what` is missing.
  Word take_rest(std::string_view what);    // All that is left.
  bool take_if(std::string_view word);      // Whether the next word is this one; then goes on.
  bool take_prefix(std::string_view text);  // Likewise where the next word only begins so.
  void finish();                            // There must be no more.

  void fail(Word at, std::string message);
  const std::optional<ParseError>& error() const { return error_; }

  // What a word says; fails where it says no such thing.
  std::uint64_t number(Word word);
  std::uint64_t positive(Word word);
  double fraction(Word word);
  Bytes size(Word word);
  Address address(Word word);
  Address block_address(Word word);  // A multiple of the granularity of blocks.
  Bytes block_size(Word word);       // Likewise, and not 0.
  DeviceIndex device(Word word);
  int thread(Word word);
  std::string name(Word word);
  std::string stream(Word word);  // A name, s0 or ptds.
  DriverCall driver_call(Word word);

  template <class T, std::size_t n>
  T one_of(const std::array<Spelling<T>, n>& words, Word word) {
    if (const auto value = meaning(words, word.text)) return *value;
    fail(word, quoted(word.text) + " is none of " + all_words(words));
    return words.front().value;
  }

 private:
  std::string any_name(Word word);

  Word rest_;
  int number_;
  std::optional<ParseError> error_;
};

// The options at the end of a statement, in any order, each at most once: `key=value`, which
// `allowed` lists as "key=", and flags. A lone `=` ends them.
class LineOptions {
 public:
  LineOptions(Line& line, std::initializer_list<std::string_view> allowed);
  bool has(std::string_view flag) const { return value(flag).has_value(); }
  std::optional<Word> value(std::string_view key) const;

 private:
  std::vector<std::pair<std::string_view, Word>> found_;  // "key=" or a flag; what follows it.
};

}  // namespace cairn::testing
