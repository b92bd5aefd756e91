// Settings text as tokens: `,` `:` `[` `]`, and words of anything else. White space is dropped,
// even within a word, as PyTorch does; each token knows where it stood in the text as given. Any
// bytes at all are good input here. Not part of the public contract.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::settings {

struct Token {
  enum class Kind { word, comma, colon, open, close, end };
  Kind kind = Kind::end;
  std::string_view text;     // Without white space; empty at the end.
  std::string_view written;  // As in the text given, from its first character to its last.
  std::size_t position = 0;  // Of the first character; at the end: the length of the text given.
};

// The text without its white space. REQUIRES: `given` outlives this and every token of it.
class Text {
 public:
  explicit Text(std::string_view given);
  Token token_at(std::size_t index) const;
  std::string_view given() const { return given_; }

 private:
  std::string_view given_;
  std::string bare_;
  // Of each character of bare_ in given_, then given_'s length.
  std::vector<std::size_t> positions_;
};

// One value of any key.
struct Value {
  std::string_view written;  // As in the text given.
  bool is_whole = false;     // A word, or a list whose brackets are balanced.
};

// A place in a Text. Copies go on independently. At the end every take() gives the end again.
class Reader {
 public:
  explicit Reader(const Text& text) : text_(&text) {}
  Token peek() const { return text_->token_at(index_); }
  Token take();
  bool skip(Token::Kind kind);  // Whether the next token was of that kind, and so was taken.
  // Takes nothing where no value begins; a list that is never closed goes on to the end of the
  // text.
  Value take_value();

 private:
  const Text* text_;
  std::size_t index_ = 0;
};

// The number that is the whole of `text`: no sign, no white space, nothing after it, no overflow.
std::optional<std::uint64_t> whole_number(std::string_view text);
std::optional<double> decimal_number(std::string_view text);  // Finite; `0.5`, `.5` or `5e-1`.

// In double quotes, fit for one line of a message: long text is cut, bytes that do not print are
// \xNN.
std::string quoted(std::string_view text);

}  // namespace cairn::settings
