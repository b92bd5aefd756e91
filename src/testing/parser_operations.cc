// The allocator's operations.
#include "testing/parser_statements.h"

namespace cairn::testing {
namespace {

Operation parse_alloc(Line& line) {
  Alloc alloc;
  alloc.name = line.name(line.take("a name"));
  alloc.size = line.size(line.take("a size"));
  if (!line.at_end() && line.peek().text.find('=') == std::string_view::npos)
    alloc.stream = line.stream(line.take("the stream"));
  const LineOptions options(line, {"align="});
  if (const auto align = options.value("align=")) alloc.align = line.size(*align);
  if (line.take_prefix("=")) alloc.expected = line.address(line.take("the expected address"));
  return alloc;
}

Operation parse_alloc_at(Line& line) {
  AllocAt alloc;
  alloc.name = line.name(line.take("a name"));
  alloc.size = line.size(line.take("a size"));
  alloc.stream = line.stream(line.take("the stream"));
  alloc.address = line.address(line.take("the address"));
  return alloc;
}

std::variant<NamedTarget, Address, NullTarget> parse_target(Line& line, Word word) {
  if (word.text == "null") return NullTarget{};
  if (word.text.starts_with("0x")) return line.address(word);
  const auto plus = word.text.find('+');
  NamedTarget target{line.name(word.part(0, plus)), {}};
  if (plus != std::string_view::npos) target.offset = line.size(word.part(plus + 1));
  return target;
}

Operation parse_free(Line& line) {
  Free free;
  free.target = parse_target(line, line.take("what to free"));
  if (line.take_if("on")) free.on = line.stream(line.take("the stream after `on`"));
  const LineOptions options(line, {"size=", "stream="});
  if (const auto size = options.value("size=")) free.size = line.size(*size);
  if (const auto stream = options.value("stream=")) free.stream = line.stream(*stream);
  return free;
}

Operation parse_use(Line& line) {
  Use use;
  use.name = line.name(line.take("a name"));
  use.stream = line.stream(line.take("the stream"));
  return use;
}

Operation parse_poll(Line&) { return Poll{}; }

Operation parse_empty_cache(Line& line) {
  EmptyCache empty;
  if (!line.at_end()) empty.pool = line.name(line.take("the pool"));
  return empty;
}

Operation parse_memory_fraction(Line& line) {
  MemoryFraction limit;
  limit.fraction = line.fraction(line.take("a fraction"));
  const LineOptions options(line, {"gpu="});
  if (const auto gpu = options.value("gpu=")) limit.gpu = line.device(*gpu);
  return limit;
}

Operation parse_reconfigure(Line& line) {
  return Reconfigure{std::string(line.take_rest("settings text").text)};
}

Operation parse_pool(Line& line) {
  MakePool pool;
  pool.pool = line.name(line.take("the pool's name"));
  const LineOptions options(line, {"no_split", "use_on_oom", "source"});
  pool.no_split = options.has("no_split");
  pool.use_on_oom = options.has("use_on_oom");
  pool.source = options.has("source");
  return pool;
}

// For statements of one name and nothing else.
template <class Statement>
Operation parse_name(Line& line) {
  return Statement{line.name(line.take("a name"))};
}

// Likewise of two.
template <class Statement>
Operation parse_two_names(Line& line) {
  std::string first = line.name(line.take("a name"));
  return Statement{std::move(first), line.name(line.take("a second name"))};
}

Operation parse_capture_begin(Line& line) {
  CaptureBegin begin;
  begin.graph = line.name(line.take("the graph's name"));
  begin.stream = line.stream(line.take("the stream"));
  const LineOptions options(line, {"pool=", "mode="});
  if (const auto pool = options.value("pool=")) begin.pool = line.name(*pool);
  if (const auto mode = options.value("mode=")) begin.mode = line.one_of(mode_words, *mode);
  return begin;
}

Operation parse_replay(Line& line) {
  Replay replay;
  replay.graph = line.name(line.take("the graph's name"));
  replay.stream = line.stream(line.take("the stream"));
  return replay;
}

Operation parse_peer(Line& line) {
  Peer peer;
  peer.device = line.device(line.take("the number of a device"));
  const Word of = line.take("the number of a second device");
  peer.of = line.device(of);
  if (peer.device == peer.of) line.fail(of, "a device is no peer of its own");
  return peer;
}

Operation parse_exit(Line&) { return ThreadExit{}; }

constexpr auto rules = std::to_array<StatementRule>({
    {"alloc", parse_alloc, Place::operation},
    {"alloc_at", parse_alloc_at, Place::operation},
    {"free", parse_free, Place::operation},
    {"use", parse_use, Place::operation},
    {"poll", parse_poll, Place::operation},
    {"empty_cache", parse_empty_cache, Place::operation},
    {"memory_fraction", parse_memory_fraction, Place::operation},
    {"reconfigure", parse_reconfigure, Place::operation},
    {"pool", parse_pool, Place::operation},
    {"enter", parse_name<EnterPool>, Place::operation},
    {"leave", parse_name<LeavePool>, Place::operation},
    {"release", parse_name<ReleasePool>, Place::operation},
    {"capture_begin", parse_capture_begin, Place::operation},
    {"capture_end", parse_name<CaptureEnd>, Place::operation},
    {"replay", parse_replay, Place::operation},
    {"destroy_graph", parse_name<DestroyGraph>, Place::operation},
    {"checkpoint", parse_two_names<Checkpoint>, Place::operation},
    {"restore", parse_name<Restore>, Place::operation},
    {"peer", parse_peer, Place::operation},
    {"share", parse_two_names<Share>, Place::operation},
    {"open", parse_two_names<Open>, Place::operation},
    {"close", parse_name<Close>, Place::operation},
    {"exit", parse_exit, Place::operation},
});

}  // namespace

std::span<const StatementRule> allocator_statements() { return rules; }

}  // namespace cairn::testing
