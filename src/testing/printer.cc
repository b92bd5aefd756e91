#include "testing/printer.h"

#include <array>
#include <charconv>

#include "base/in_words.h"
#include "testing/parser_words.h"

namespace cairn::testing {
namespace {

using std::string;

string number(std::uint64_t value) { return std::to_string(value); }

string join(std::initializer_list<string> words) {  // With blanks between; empty ones are left out.
  string joined;
  for (const string& word : words) joined.append(joined.empty() || word.empty() ? "" : " ") += word;
  return joined;
}

string flag(const char* word, bool is_set) { return is_set ? word : ""; }

string option(const char* key, const string& value) { return key + value; }
string option(const char* key, const std::optional<string>& value) {
  return value ? key + *value : "";
}
string option(const char* key, std::optional<Bytes> value) {
  return value ? key + print_size(*value) : "";
}
string gpu_option(std::optional<DeviceIndex> gpu) {
  return gpu ? "gpu=" + std::to_string(*gpu) : "";
}

string shortest(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.begin(), text.end(), value).ptr;
  return string(text.begin(), end);
}

// ---- declarations and the simulated world ----
string print(const GpuDecl& gpu) {
  return join({"gpu", std::to_string(gpu.device), option("memory=", print_size(gpu.memory)),
               flag("adjacent", gpu.adjacent), flag("reuse_addresses", gpu.reuse_addresses)});
}
string print(const Conf& conf) { return "conf " + conf.text; }
string print(const SegmentDecl& segment) {
  return join({"segment", print_address(segment.address), print_size(segment.size),
               spell(pool_words, segment.pool), segment.stream, gpu_option(segment.gpu)});
}
string print(const BlockDecl& block) {
  return join({"block", block.name.value_or("-"), print_size(block.size)});
}
string print(const Fault& fault) {
  string count;
  if (!fault.count) {
    count = "count=forever";
  } else if (*fault.count != 1) {
    count = "count=" + number(*fault.count);
  }
  return join({"fault", string(to_string(fault.call)), option("at=", number(fault.at)),
               option("error=", string(to_string(fault.error))), count,
               flag("sticky", fault.sticky)});
}
string print(const NextSegment& next) { return "next_segment " + print_address(next.address); }
string print(const SetDevice& set) { return "device " + std::to_string(set.device); }
string print(const MakeStream& make) {
  return join({"stream", make.stream, gpu_option(make.gpu), flag("blocking", make.blocking),
               option("reuse=", make.reuse)});
}
string print(const DestroyStream& destroy) {
  return join({"destroy_stream", destroy.stream, flag("unannounced", destroy.unannounced)});
}
string print(const Launch& launch) {
  string touches;
  for (const Touch& touch : launch.touches)
    touches.append(touches.empty() ? "" : ",").append(touch.name + (touch.read_only ? ":r" : ""));
  return join({"launch", launch.stream, touches, number(launch.ticks)});
}
string print(const Order& order) { return join({"order", order.before, order.after}); }
string print(const Advance& advance) { return "advance " + number(advance.ticks); }
string print(const Sync& sync) {
  return join({"sync", sync.stream.value_or(""), gpu_option(sync.gpu)});
}

// ---- the allocator's operations ----
string print(const Alloc& alloc) {
  return join({"alloc", alloc.name, print_size(alloc.size),
               alloc.stream == "s0" ? "" : alloc.stream, option("align=", alloc.align),
               alloc.expected ? "= " + print_address(*alloc.expected) : ""});
}
string print(const AllocAt& alloc) {
  return join(
      {"alloc_at", alloc.name, print_size(alloc.size), alloc.stream, print_address(alloc.address)});
}
string print(const NamedTarget& target) {
  return target.name + (target.offset.count == 0 ? "" : "+" + print_size(target.offset));
}
string print(Address address) { return print_address(address); }
string print(NullTarget) { return "null"; }
string print(const Free& free) {
  return join({"free", std::visit([](const auto& target) { return print(target); }, free.target),
               option("on ", free.on), option("size=", free.size), option("stream=", free.stream)});
}
string print(const Use& use) { return join({"use", use.name, use.stream}); }
string print(const Poll&) { return "poll"; }
string print(const EmptyCache& empty) { return join({"empty_cache", empty.pool.value_or("")}); }
string print(const MemoryFraction& limit) {
  return join({"memory_fraction", shortest(limit.fraction), gpu_option(limit.gpu)});
}
string print(const Reconfigure& reconfigure) { return "reconfigure " + reconfigure.text; }
string print(const MakePool& pool) {
  return join({"pool", pool.pool, flag("no_split", pool.no_split),
               flag("use_on_oom", pool.use_on_oom), flag("source", pool.source)});
}
string print(const EnterPool& enter) { return "enter " + enter.pool; }
string print(const LeavePool& leave) { return "leave " + leave.pool; }
string print(const ReleasePool& release) { return "release " + release.pool; }
string print(const CaptureBegin& begin) {
  return join({"capture_begin", begin.graph, begin.stream, option("pool=", begin.pool),
               begin.mode ? "mode=" + spell(mode_words, *begin.mode) : ""});
}
string print(const CaptureEnd& end) { return "capture_end " + end.graph; }
string print(const Replay& replay) { return join({"replay", replay.graph, replay.stream}); }
string print(const DestroyGraph& destroy) { return "destroy_graph " + destroy.graph; }
string print(const Checkpoint& checkpoint) {
  return join({"checkpoint", checkpoint.checkpoint, checkpoint.pool});
}
string print(const Restore& restore) { return "restore " + restore.checkpoint; }
string print(const Peer& peer) {
  return join({"peer", std::to_string(peer.device), std::to_string(peer.of)});
}
string print(const Share& share) { return join({"share", share.name, share.handle}); }
string print(const Open& open) { return join({"open", open.handle, open.name}); }
string print(const Close& close) { return "close " + close.name; }
string print(const ThreadExit&) { return "exit"; }

// ---- threads ----
string braced(const string& head, const std::vector<Statement>& body) {
  string text = head + " {\n";
  for (const Statement& statement : body) text += "  " + print_statement(statement) + "\n";
  return text + "}";
}
string print(const During& during) {
  const string call(to_string(during.call));
  return braced(join({"during", call, option("at=", number(during.at))}), during.body);
}
string print(const Parallel& parallel) { return braced("parallel", parallel.body); }
string print(const Schedule& schedule) {
  string text = "schedule";
  for (const int thread : schedule.threads) text += " " + std::to_string(thread);
  return text;
}

// ---- what must be true ----
string print(const Reset& reset) { return "reset " + spell(reset_words, reset.what); }
string print(const Term& term) {
  if (term.query.empty() && !term.argument.empty()) return term.argument;
  if (term.query.empty() && term.number_is_address) return print_address({term.number});
  if (term.query.empty()) return print_size({term.number});
  return term.query + (term.argument.empty() ? "" : "(" + term.argument + ")") +
         (term.device ? "@" + std::to_string(*term.device) : "");
}
string print(const std::vector<Term>& sum) {
  string text;
  for (const Term& term : sum) {
    const char* sign = term.negative ? "- " : "+ ";
    if (!text.empty()) {
      text.append(" ").append(sign);
    } else if (term.negative) {
      text.append(sign);
    }
    text += print(term);
  }
  return text;
}
string print(const Expect& expect) {
  return join({"expect", print(expect.left), spell(comparison_words, expect.comparison),
               print(expect.right)});
}
string print(const ExpectSegment& segment) {
  return join({"expect_segment", print_address(segment.address), print_size(segment.size),
               spell(pool_words, segment.pool), segment.stream, gpu_option(segment.gpu)});
}
string print(const ExpectBlock& block) {
  return join({"expect_block", print_size(block.size), spell(state_words, block.state),
               option("requested=", block.requested)});
}

}  // namespace

string print_statement(const Statement& statement) {
  string text = statement.thread ? "T" + std::to_string(*statement.thread) + ": " : "";
  text += std::visit([](const auto& operation) { return print(operation); }, statement.operation);
  if (statement.expected != ErrorCode::none)
    text += " -> " + spell(error_words, statement.expected);
  return text;
}

string print_program(const Program& program) {
  string text;
  for (const Statement& statement : program.statements) text += print_statement(statement) + "\n";
  return text;
}

string print_size(Bytes size) {
  struct Unit {
    const char* name;
    int shift;
  };
  for (const Unit unit : {Unit{"GiB", 30}, Unit{"MiB", 20}, Unit{"KiB", 10}}) {
    const std::uint64_t one = std::uint64_t{1} << unit.shift;
    if (size.count != 0 && size.count % one == 0) return number(size.count / one) + unit.name;
  }
  return number(size.count);
}

string print_address(Address address) { return in_words(address); }

}  // namespace cairn::testing
