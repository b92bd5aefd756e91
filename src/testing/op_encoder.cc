#include "testing/op_encoder.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "testing/dice.h"
#include "testing/op_encoder_names.h"
#include "testing/op_values.h"

namespace cairn::testing {
namespace {

using Life = KnownStream::Life;

constexpr std::size_t most_live = 64;
constexpr std::uint32_t lucks_tried = 16;           // For what the rules of streams demand.
constexpr std::uint32_t launches_tried = 1u << 20;  // For what a kernel touches.
constexpr std::uint32_t settings_tried = 1u << 16;

double apart(std::uint64_t a, std::uint64_t b) {
  return std::abs(static_cast<double>(a) - static_cast<double>(b));
}

// The field by which a decoder picks the element at that place.
std::uint16_t scaled(std::size_t place, std::size_t count) {
  return static_cast<std::uint16_t>(((place << 16) + count - 1) / count);
}

// Whether the statement does something that a tape could say: it is no declaration, and nothing
// that must be true.
bool counts(const Operation& operation) {
  const auto is_one_of = [&]<class... Each>(std::variant<Each...>*) {
    return (std::holds_alternative<Each>(operation) || ...);
  };
  using Others =
      std::variant<GpuDecl, Conf, SegmentDecl, BlockDecl, Expect, ExpectSegment, ExpectBlock>;
  const auto* reset = std::get_if<Reset>(&operation);
  if (reset != nullptr) return reset->what != ResetWhat::calls;
  return !is_one_of(static_cast<Others*>(nullptr));
}

// By text of `reconfigure`: a luck that draws it.
std::optional<std::uint32_t> luck_of_settings(const std::string& text) {
  static const std::map<std::string, std::uint32_t> lucks = [] {
    std::map<std::string, std::uint32_t> found;
    for (std::uint32_t luck = 0; luck < settings_tried; ++luck) {
      Dice dice(luck);
      found.emplace(new_settings(dice), luck);
    }
    return found;
  }();
  const auto found = lucks.find(text);
  if (found == lucks.end()) return std::nullopt;
  return found->second;
}

// Drives a decoder along. put() fills the fields of the operation that says a statement, if there
// is one; commit() keeps it if the decoder says so too.
class Encoder {
 public:
  explicit Encoder(const Program& program)
      : world_(encode_world(program)), decoder_(world_.setup), program_(program) {
    names_.begin(world_, decoder_.declarations());
    encoded_.tape.setup = world_.setup;
  }

  Encoded run() {
    for (const Statement& statement : program_.statements) {
      if (!counts(statement.operation)) continue;
      const auto* made = std::get_if<MakeStream>(&statement.operation);
      if (made != nullptr && names_.knows_stream(made->stream)) continue;  // From the start.
      for (const std::string& name : streams_named(statement.operation))
        make_known(name, statement);
      if (!encode(statement)) ++encoded_.left_out;
    }
    return std::move(encoded_);
  }

 private:
  const ProgramState& state() const { return decoder_.state(); }
  int devices() const { return devices_of(world_.setup); }
  DeviceIndex current_device() const { return state().current_device(thread_); }

  void make_known(const std::string& stream, const Statement& by) {
    if (stream == "s0" || stream == "ptds" || names_.knows_stream(stream)) return;
    Statement made;
    made.thread = by.thread;
    made.operation = MakeStream{stream, {}, false, {}};
    encode(made);
  }

  bool encode(const Statement& statement) {
    const auto place = names_.thread(statement.thread.value_or(0));
    if (!place) return false;
    op_ = Op{};
    op_.thread = static_cast<std::uint8_t>(*place);
    thread_ = decoder_.threads()[*place];
    fails_ = statement.expected != ErrorCode::none;
    const auto put_it = [&](const auto& operation) { return put(operation); };
    return std::visit(put_it, statement.operation) && commit(statement);
  }

  bool commit(const Statement& statement) {
    for (std::uint32_t tried = 0; tried < lucks_tried; ++tried, ++op_.luck) {
      decoder_.begin(op_);
      std::vector<Statement> plan;
      while (auto planned = decoder_.next()) plan.push_back(std::move(*planned));
      if (plan.empty() || plan.back().operation.index() != statement.operation.index()) continue;
      encoded_.tape.ops.push_back(op_);
      const Statement last = plan.back();
      plan.pop_back();
      for (const Statement& before : plan) decoder_.done(before, true);
      decoder_.done(last, !fails_);
      if (!fails_) names_.learn(statement, last);
      return true;
    }
    return false;
  }

  // ---- how fields name them; false where they cannot ----

  bool put_device(DeviceIndex device) {
    op_.device = static_cast<std::uint8_t>(device);
    return device >= 0 && device < devices();
  }

  bool put_place(const StreamPlace& place, std::uint8_t& field) const {
    const auto all = decoder_.places(place.device, thread_);
    const auto found = std::ranges::find(all, place);
    field = static_cast<std::uint8_t>(found - all.begin());
    return found != all.end();
  }

  bool put_stream(const std::string& name) {
    const auto place = names_.place(name, thread_);
    return place && put_device(place->device) && put_place(*place, op_.stream);
  }

  bool put_stream(Life life, const std::string& name) {
    const KnownStream* wanted = names_.stream(name);
    if (wanted == nullptr || wanted->life != life) return false;
    const auto before = std::ranges::count_if(
        state().streams().data(), wanted, [&](const auto& stream) { return stream.life == life; });
    op_.stream = static_cast<std::uint8_t>(before);
    return true;
  }

  bool put_live(const std::string& name) {
    const auto place = names_.live(name);
    if (place) op_.block = scaled(*place, state().live().size());
    return place.has_value();
  }

  bool put_freed(const std::string& name) {
    const auto place = names_.freed(name);
    if (place) op_.block = scaled(*place, state().freed().size());
    return place.has_value();
  }

  void put_ticks(std::uint64_t ticks) {
    op_.amount = nearest(16, [&](unsigned amount) {
      Op alone;
      alone.amount = amount;
      return apart(ticks_of(alone), ticks);
    });
  }

  // ---- the operation that says it ----

  template <class Other>
  bool put(const Other&) {
    return false;
  }

  bool put(const Alloc& alloc) {
    op_.kind = OpKind::alloc;
    op_.amount = size_code(alloc.size);
    if (alloc.align) {
      op_.variant = static_cast<std::uint8_t>(nearest(7, [&](unsigned variant) {
        Op alone;
        alone.variant = static_cast<std::uint8_t>(variant);
        return apart(alignment_of(alone).value_or(Bytes{512}).count, alloc.align->count);
      }));
      if (!is_power_of_two(*alloc.align)) op_.variant = impossible;
      if (alloc.align->count > std::uint64_t{2} << 20) op_.variant = impossible + 1;
    }
    if (state().live().size() >= most_live) return false;
    if (put_stream(Life::unannounced, alloc.stream)) {
      op_.variant |= 7;
      return true;
    }
    return put_stream(alloc.stream) && op_.device == current_device();
  }

  bool put(const Free& free) {
    op_.kind = OpKind::free;
    if (const auto* named = std::get_if<NamedTarget>(&free.target)) return put_free(free, *named);
    op_.kind = OpKind::bad_free;
    const bool is_null = std::holds_alternative<NullTarget>(free.target);
    op_.variant = is_null ? 0 : 7;
    return is_null || fails_;
  }

  bool put_free(const Free& free, const NamedTarget& target) {
    const auto place = names_.live(target.name);
    const auto on = free.on ? names_.place(*free.on, thread_) : std::nullopt;
    if (free.on && (!on || !put_device(on->device) || !put_place(*on, op_.other))) return false;
    if (!place) {
      op_.kind = OpKind::bad_free;
      op_.variant = on ? 1 : 2;
      return put_freed(target.name);
    }
    const KnownBlock& block = state().live()[*place];
    put_live(target.name);
    const bool is_sized = free.size.has_value();
    const bool is_inside = target.offset.count > 0;
    const bool is_other = free.stream && names_.place(*free.stream, thread_) != block.own;
    if (is_inside || is_other || (is_sized && *free.size != block.size)) {
      op_.kind = OpKind::bad_free;
      op_.variant = is_inside ? 4 : is_other ? 6 : 5;
      op_.amount = static_cast<std::uint32_t>(target.offset.count - 1);
      return target.offset.count < block.size.count && state().is_alive(block.own);
    }
    if (is_sized || free.stream) op_.variant = is_sized && free.stream ? 5 : is_sized ? 3 : 4;
    if (on) op_.variant = on->device == block.device ? 1 : 2;
    return true;
  }

  // The first touched block has a field, those after it are drawn.
  bool put(const Launch& launch) {
    op_.kind = OpKind::launch;
    put_ticks(launch.ticks);
    const auto place = names_.place(launch.stream, thread_);
    const auto first = names_.live(launch.touches.front().name);
    const std::size_t more = launch.touches.size() - 1;
    if (!place || !first || more > 2 || !put_stream(launch.stream)) return false;
    put_live(launch.touches.front().name);
    op_.variant = static_cast<std::uint8_t>(more << 1 | (launch.touches.front().read_only ? 8 : 0));
    const bool is_remote = place->device != state().live()[*first].device;
    while (is_remote && (op_.device < 0xe0 || op_.device % devices() != place->device))
      ++op_.device;
    return more == 0 || put_touched(launch);
  }

  bool put_touched(const Launch& launch) {
    std::vector<std::pair<std::size_t, bool>> wanted;
    for (std::size_t i = 1; i < launch.touches.size(); ++i) {
      const auto place = names_.live(launch.touches[i].name);
      if (!place) return false;
      wanted.emplace_back(*place, launch.touches[i].read_only);
    }
    for (; op_.luck < launches_tried; ++op_.luck) {
      Dice dice(op_.luck);
      const auto is_drawn = [&](const auto& touch) {
        return dice.below(state().live().size()) == touch.first && dice.one_in(4) == touch.second;
      };
      if (std::ranges::all_of(wanted, is_drawn)) return true;
    }
    return false;
  }

  bool put(const Use& use) {
    op_.kind = OpKind::use;
    op_.variant = names_.live(use.name) ? 0 : 15;
    return put_stream(use.stream) && (put_live(use.name) || put_freed(use.name));
  }

  bool put(const Order& order) {
    op_.kind = OpKind::order;
    const auto after = names_.place(order.after, thread_);
    if (!after || !put_stream(order.before)) return false;
    const bool is_next =
        after->device == (op_.device + 1) % devices() && after->device != op_.device;
    op_.variant = is_next ? 3 : 0;
    return (is_next || after->device == op_.device) && put_place(*after, op_.other);
  }

  bool put(const Sync& sync) {
    op_.kind = OpKind::sync;
    if (sync.stream) return put_stream(*sync.stream);
    op_.variant = 3;
    return put_device(sync.gpu.value_or(current_device()));
  }

  bool put(const Advance& advance) {
    op_.kind = OpKind::advance;
    put_ticks(advance.ticks);
    return true;
  }

  bool put(const Poll&) {
    op_.kind = OpKind::poll;
    return put_device(current_device());
  }

  bool put(const EmptyCache& empty) {
    op_.kind = OpKind::empty_cache;
    return !empty.pool;
  }

  bool put(const Fault& fault) {
    op_.kind = OpKind::fault;
    const bool may_last = (world_.setup.switches & setup_switch::lost_devices) != 0;
    const auto now = [&] { return fault_of(op_, may_last); };
    const auto choose = [&](auto& field, auto distance) {
      using Field = std::remove_reference_t<decltype(field)>;
      field = static_cast<Field>(nearest(256, [&](unsigned choice) {
        field = static_cast<Field>(choice);
        return distance(now());
      }));
    };
    choose(op_.amount, [&](const Fault& one) { return one.call != fault.call; });
    choose(op_.other, [&](const Fault& one) { return one.error != fault.error; });
    choose(op_.variant, [&](const Fault& one) {
      const bool is_as_long = one.sticky == fault.sticky && !one.count == !fault.count;
      return apart(one.at, fault.at) + apart(one.count.value_or(0), fault.count.value_or(0)) +
             (is_as_long ? 0 : 1000);
    });
    return now().call == fault.call && now().error == fault.error;
  }

  bool put(const MakeStream& made) {
    op_.kind = OpKind::make_stream;
    op_.variant = made.blocking ? 1 : 0;
    const KnownStream* dead = made.reuse ? names_.stream(*made.reuse) : nullptr;
    if (made.reuse && dead == nullptr) return false;
    if (dead != nullptr) {
      if (dead->life == Life::announced) op_.variant |= 2;
      return put_stream(dead->life, *made.reuse) && dead->life != Life::alive;
    }
    op_.variant |= 4;
    return put_device(made.gpu.value_or(current_device()));
  }

  bool put(const DestroyStream& destroyed) {
    op_.kind = OpKind::destroy_stream;
    op_.variant = destroyed.unannounced ? 3 : 0;
    return put_stream(Life::alive, destroyed.stream);
  }

  bool put(const MemoryFraction& limit) {
    op_.kind = OpKind::memory_fraction;
    op_.variant = limit.fraction > 1.0 ? impossible : 0;
    const double fraction = limit.fraction - (limit.fraction > 1.0 ? 1.5 : 0);
    op_.amount = static_cast<std::uint32_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * 100));
    return put_device(limit.gpu.value_or(current_device()));
  }

  bool put(const Reconfigure& change) {
    op_.kind = OpKind::reconfigure;
    std::string_view text = change.text;
    for (std::size_t i = 0; i < impossible_settings.size(); ++i) {
      const std::string_view last = impossible_settings.at(i);
      if (!text.ends_with(last)) continue;
      text.remove_suffix(last.size());
      op_.variant = static_cast<std::uint8_t>(impossible + i);
    }
    const auto luck = luck_of_settings(std::string(text));
    op_.luck = luck.value_or(0);
    return luck.has_value();
  }

  bool put(const SetDevice& set) {
    op_.kind = OpKind::set_device;
    return put_device(set.device);
  }

  bool put(const ThreadExit&) {
    op_.kind = OpKind::thread_exit;
    return op_.thread-- != 0;
  }

  bool put(const Reset& reset) {
    op_.kind = OpKind::reset;
    op_.variant = reset.what == ResetWhat::peak ? 0 : 1;
    return true;
  }

  const EncodedWorld world_;
  OpDecoder decoder_;
  EncoderNames names_{decoder_};
  const Program& program_;
  Encoded encoded_;

  // Of the statement at hand:
  Op op_;
  int thread_ = 0;  // The decoder's.
  bool fails_ = false;
};

}  // namespace

Encoded encode(const Program& program) { return Encoder(program).run(); }

}  // namespace cairn::testing
