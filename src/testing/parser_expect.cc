// `expect`: a sum, a comparison, a sum.
#include <algorithm>

#include "testing/parser_statements.h"

namespace cairn::testing {
namespace {

// What stands in the brackets after a query's word.
enum class Argument { none, pool, blocks, call, block, oom };
struct Query {
  std::string_view word;
  Argument argument;
  bool has_peak;
};
constexpr auto queries = std::to_array<Query>({
    {"reserved", Argument::pool, true},
    {"allocated", Argument::pool, true},
    {"active", Argument::pool, true},
    {"requested", Argument::pool, true},  // Or a block's name.
    {"inactive_split", Argument::pool, true},
    {"segments", Argument::pool, true},
    {"blocks", Argument::blocks, true},
    {"free_blocks", Argument::none, false},
    {"live_blocks", Argument::none, false},
    {"pending_blocks", Argument::none, false},
    {"ooms", Argument::none, false},
    {"retries", Argument::none, false},
    {"rejections", Argument::none, false},
    {"syncs", Argument::none, false},
    {"calls", Argument::call, false},
    {"addr", Argument::block, false},
    {"size", Argument::block, false},
    {"stream", Argument::block, false},
    {"events", Argument::block, false},
    {"largest_free", Argument::none, false},
    {"device_free", Argument::none, false},
    {"overlaps", Argument::none, false},
    {"violations", Argument::none, false},
    {"oom", Argument::oom, false},
});
constexpr std::array<std::string_view, 3> block_kinds = {"allocated", "active", "inactive_split"};
constexpr std::array<std::string_view, 7> oom_fields = {
    "tried", "total", "free", "allocated", "private", "unallocated", "limit"};
constexpr std::string_view peak = "peak_";

const Query* find_query(std::string_view word) {
  const bool is_peak = word.starts_with(peak);
  if (is_peak) word.remove_prefix(peak.size());
  const auto* query = std::ranges::find(queries, word, &Query::word);
  return query == queries.end() || (is_peak && !query->has_peak) ? nullptr : query;
}

bool continues(char a, char b) {  // Whether b belongs to the token that a is in.
  const auto in_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.';
  };
  const auto compares = [](char c) { return c == '=' || c == '!' || c == '<' || c == '>'; };
  return (in_word(a) && in_word(b)) || (compares(a) && compares(b));
}

// The tokens of an `expect`, one after another; the last is empty.
class Tokens {
 public:
  Tokens(Line& line, Word text) : line_(line), left_(text) { skip(0); }

  const Word& now() const { return now_; }
  Word take() {
    const Word taken = now_;
    skip(now_.text.size());
    return taken;
  }
  bool take_if(std::string_view token) {
    if (token != now_.text) return false;
    take();
    return true;
  }
  void require(std::string_view token) {
    if (!take_if(token)) fail(quoted(token) + " is expected here, not " + quoted(now_.text));
  }
  void fail(std::string message) { line_.fail(now_, std::move(message)); }

 private:
  void skip(std::size_t size) {
    left_ = trimmed(left_.part(size));
    std::size_t end = left_.text.empty() ? 0 : 1;
    while (end > 0 && end < left_.text.size() && continues(left_.text[end - 1], left_.text[end]))
      ++end;
    now_ = left_.part(0, end);
  }

  Line& line_;
  Word left_;
  Word now_;
};

template <std::size_t n>
std::string one_of(Line& line, Word word, const std::array<std::string_view, n>& words) {
  if (std::ranges::find(words, word.text) == words.end()) {
    std::string all;
    for (const auto each : words) all.append(all.empty() ? "" : ", ").append(each);
    line.fail(word, quoted(word.text) + " is none of " + all);
  }
  return std::string(word.text);
}

std::string pool_argument(Line& line, Word word) {
  return meaning(pool_words, word.text) ? std::string(word.text) : line.name(word);
}

std::string bracketed(Line& line, Tokens& tokens, Argument argument) {
  switch (argument) {
    case Argument::call:
      return std::string(to_string(line.driver_call(tokens.take())));
    case Argument::block:
      return line.name(tokens.take());
    case Argument::oom:
      return one_of(line, tokens.take(), oom_fields);
    case Argument::blocks: {
      std::string kind = one_of(line, tokens.take(), block_kinds);
      if (!tokens.take_if(",")) return kind;
      return kind + "," + pool_argument(line, tokens.take());
    }
    case Argument::pool:
      return pool_argument(line, tokens.take());
    case Argument::none:
      break;
  }
  tokens.fail("nothing can be asked in brackets here");
  return {};
}

void parse_query(Line& line, Tokens& tokens, Term& term) {
  const Word word = tokens.take();
  const Query* query = find_query(word.text);
  if (query == nullptr && tokens.now().text == "(") {
    line.fail(word, quoted(word.text) + " is nothing that can be asked for");
  } else if (query == nullptr) {
    term.argument = line.stream(word);
    return;
  }
  if (line.error()) return;
  term.query = std::string(word.text);
  if (tokens.take_if("(")) {
    term.argument = bracketed(line, tokens, query->argument);
    tokens.require(")");
  } else if (query->argument != Argument::none && query->argument != Argument::pool) {
    tokens.fail(quoted(word.text) + " needs (...) after it");
  }
  if (query->argument != Argument::block && tokens.take_if("@"))
    term.device = line.device(tokens.take());
}

Term parse_term(Line& line, Tokens& tokens) {
  Term term;
  const std::string_view text = tokens.now().text;
  if (text.empty()) tokens.fail("a number or a quantity is missing");
  if (line.error()) return term;
  if (text.starts_with("0x")) {
    term.number = line.address(tokens.take()).value;
    term.number_is_address = true;
  } else if (text.front() >= '0' && text.front() <= '9') {
    term.number = line.size(tokens.take()).count;
  } else {
    parse_query(line, tokens, term);
  }
  return term;
}

std::vector<Term> parse_sum(Line& line, Tokens& tokens) {
  std::vector<Term> sum;
  bool negative = tokens.take_if("-");
  do {
    Term term = parse_term(line, tokens);
    term.negative = negative;
    sum.push_back(std::move(term));
    negative = tokens.now().text == "-";
  } while (!line.error() && (tokens.take_if("+") || tokens.take_if("-")));
  return sum;
}

}  // namespace

Operation parse_expect(Line& line) {
  Expect expect;
  Tokens tokens(line, line.take_rest("what must be true"));
  expect.left = parse_sum(line, tokens);
  expect.comparison = line.one_of(comparison_words, tokens.now());
  tokens.take();
  expect.right = parse_sum(line, tokens);
  if (!tokens.now().text.empty())
    tokens.fail("nothing may follow here, but " + quoted(tokens.now().text) + " does");
  return expect;
}

}  // namespace cairn::testing
