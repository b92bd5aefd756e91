// Threads, and statements about what must be true.
#include <algorithm>

#include "testing/parser_statements.h"

namespace cairn::testing {
namespace {

void take_opening_brace(Line& line) {
  const Word brace = line.take("a { at the end of the line");
  if (brace.text != "{") line.fail(brace, "a { is expected here, not " + quoted(brace.text));
}

Operation parse_during(Line& line) {
  During during;
  during.call = line.driver_call(line.take("the kind of driver call"));
  const Word at = line.take("at=N");
  if (!at.text.starts_with("at=")) line.fail(at, "at=N is expected here, not " + quoted(at.text));
  during.at = line.positive(at.part(std::min<std::size_t>(3, at.text.size())));
  take_opening_brace(line);
  return during;
}

Operation parse_parallel(Line& line) {
  take_opening_brace(line);
  return Parallel{};
}

Operation parse_schedule(Line& line) {
  Schedule schedule;
  do {
    schedule.threads.push_back(line.thread(line.take("the number of a thread")));
  } while (!line.at_end());
  return schedule;
}

Operation parse_reset(Line& line) {
  return Reset{line.one_of(reset_words, line.take("calls, peak or accumulated"))};
}

Operation parse_expect_segment(Line& line) {
  ExpectSegment segment;
  segment.address = line.address(line.take("the segment's address"));
  segment.size = line.size(line.take("the segment's size"));
  segment.pool = line.one_of(pool_words, line.take("small or large"));
  segment.stream = line.stream(line.take("the segment's stream"));
  const LineOptions options(line, {"gpu="});
  if (const auto gpu = options.value("gpu=")) segment.gpu = line.device(*gpu);
  return segment;
}

Operation parse_expect_block(Line& line) {
  ExpectBlock block;
  block.size = line.size(line.take("the block's size"));
  block.state = line.one_of(state_words, line.take("the block's state"));
  const LineOptions options(line, {"requested="});
  if (const auto requested = options.value("requested=")) block.requested = line.size(*requested);
  return block;
}

constexpr auto rules = std::to_array<StatementRule>({
    {"during", parse_during, Place::certain},
    {"parallel", parse_parallel, Place::certain},
    {"schedule", parse_schedule, Place::certain},
    {"reset", parse_reset, Place::certain},
    {"expect", parse_expect, Place::certain},
    {"expect_segment", parse_expect_segment, Place::certain},
    {"expect_block", parse_expect_block, Place::certain},
});

}  // namespace

std::span<const StatementRule> check_statements() { return rules; }

}  // namespace cairn::testing
