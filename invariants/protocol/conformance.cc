// Asks a model that murphi2c made C of whether it has what the code did. Each line of the standard
// input is a transition (line_of in proptests/protocol/tap.h): the state before, the driver's
// answers, the state after. It is one of the model if rules lead from the one to the other: as many
// that bear an answer in [] as there are answers, in that order, and before, between and behind
// these at most two that bear none. Rules of the world take no part: no work is on any stream, so
// that what the driver answered is possible. Each state must keep the model's invariants.
//
// usage: conformance [LINES TO PRINT | first] < TRANSITIONS
// `first`: ends at the first transition that is none of the model.
// Prints: transitions, states, transitions that are none of the model, and for each rule how often
// it was a step. Exits 0 if all are, 1 if not, 2 where a line cannot be read.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "steps.h"

namespace {

constexpr int most_silent_steps = 2;

using State = std::vector<unsigned char>;  // All of the model's variables.
using Numbers = std::vector<int>;          // As a line has them.

State saved() {
  State state(model_size());
  model_save(state.data());
  return state;
}

void restore(const State& state) { model_restore(state.data()); }

struct Path {
  const std::vector<std::string>& answers;
  const Numbers& after;
  int silent_steps;  // At most so many in a row.
  std::set<std::vector<unsigned char>> seen;
  std::vector<int> steps;

  bool is_there(std::size_t answered) const {
    Numbers now(after.size());
    return answered == answers.size() && model_numbers() == static_cast<int>(now.size()) &&
           (model_write(now.data()), now == after);
  }

  // From the state that the model is in.
  bool goes_on(std::size_t answered, int silent) {
    if (is_there(answered)) return true;
    const State here = saved();
    State key = here;
    key.push_back(static_cast<unsigned char>(answered));
    key.push_back(static_cast<unsigned char>(silent));
    if (!seen.insert(key).second) return false;
    for (int step = 0; step < model_steps(); ++step) {
      const char* answer = model_answer(step);
      const bool is_silent = *answer == '\0';
      if (is_silent ? silent == silent_steps
                    : answered == answers.size() || answers[answered] != answer) {
        continue;
      }
      if (!model_may(step)) continue;
      model_do(step);
      steps.push_back(step);
      if (goes_on(answered + (is_silent ? 0 : 1), is_silent ? silent + 1 : 0)) return true;
      steps.pop_back();
      restore(here);
    }
    return false;
  }
};

Numbers numbers_in(const std::string& text) {
  std::istringstream in(text);
  Numbers numbers;
  for (int number = 0; in >> number;) numbers.push_back(number);
  return numbers;
}

struct Line {
  Numbers before;
  std::vector<std::string> answers;
  Numbers after;
};

bool read(const std::string& text, Line& line) {
  const auto first = text.find('|');
  const auto last = text.rfind('|');
  if (first == std::string::npos || first == last) return false;
  line.before = numbers_in(text.substr(0, first));
  line.after = numbers_in(text.substr(last + 1));
  std::istringstream in(text.substr(first + 1, last - first - 1));
  for (std::string answer; in >> answer;) line.answers.push_back(answer);
  return true;
}

bool fits(const Numbers& state) { return static_cast<int>(state.size()) == model_numbers(); }

class Conformance {
 public:
  explicit Conformance(int lines_to_print) : lines_to_print_(lines_to_print) {}

  bool has_strangers() const { return strangers_ > 0; }

  void look_at(const std::string& text, const Line& line) {
    if (!fits(line.before) || !fits(line.after)) {
      ++outside_;
      return;
    }
    ++transitions_;
    check(line.before);
    check(line.after);
    for (int silent_steps = 0; silent_steps <= most_silent_steps; ++silent_steps) {
      model_read(line.before.data());
      Path path{line.answers, line.after, silent_steps, {}, {}};
      if (!path.goes_on(0, 0)) continue;
      for (const int step : path.steps) ++used_[model_rule(step)];
      return;
    }
    if (++strangers_ <= lines_to_print_) std::fprintf(stderr, "no step: %s\n", text.c_str());
  }

  int tell() const {
    std::printf("transitions %d\noutside %d\nstates %zu\nstrangers %d\nviolations %d\n",
                transitions_, outside_, states_.size(), strangers_, violations_);
    for (const auto& [rule, count] : used_) std::printf("rule %d %s\n", count, rule.c_str());
    return strangers_ + violations_ == 0 ? 0 : 1;
  }

 private:
  void check(const Numbers& state) {
    if (!states_.insert(state).second) return;
    model_read(state.data());
    const char* broken = model_broken();
    if (broken == nullptr) return;
    ++violations_;
    std::fprintf(stderr, "does not hold in a state of the code: %s\n", broken);
  }

  const int lines_to_print_;
  int transitions_ = 0;
  int outside_ = 0;
  int strangers_ = 0;
  int violations_ = 0;
  std::set<Numbers> states_;
  std::map<std::string, int> used_;
};

}  // namespace

int main(int count, char** words) {
  const bool only_first = count > 1 && std::strcmp(words[1], "first") == 0;
  Conformance conformance(count > 1 && !only_first ? std::atoi(words[1]) : 0);
  for (std::string text; std::getline(std::cin, text);) {
    Line line;
    if (!read(text, line)) {
      std::fprintf(stderr, "no transition: %s\n", text.c_str());
      return 2;
    }
    conformance.look_at(text, line);
    if (only_first && conformance.has_strangers()) break;
  }
  return conformance.tell();
}
