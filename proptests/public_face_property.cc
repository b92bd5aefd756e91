// The public face against a plain model of what a caller knows: which blocks are live, and what may
// still be waited for. Commands are drawn from the model alone, so that RapidCheck can take any of
// them out.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <rapidcheck/state.h>

#include <memory>
#include <vector>

#include "invariants/catalogue/report.h"
#include "public_face_bad_input.h"
#include "public_face_commands.h"

namespace {

using namespace cairn::proptests;  // NOLINT(google-build-using-namespace)

using CommandPointer = std::shared_ptr<const rc::state::Command<FaceModel, Face>>;
using CommandGenerator = rc::Gen<CommandPointer>;

template <class Kind>
CommandGenerator one_of_kind() {
  return rc::gen::exec([] { return CommandPointer(std::make_shared<const Kind>()); });
}

CommandGenerator draw_bad_input() {
  return rc::gen::oneOf(one_of_kind<NoSuchDevice>(), one_of_kind<BadAlignment>(),
                        one_of_kind<ImpossibleSize>(), one_of_kind<BadFraction>(),
                        one_of_kind<UnreadableSettings>(), one_of_kind<UnchangeableSettings>(),
                        one_of_kind<ImpossibleStream>(), one_of_kind<ForgetDefaultStream>(),
                        one_of_kind<DeadPointers>(), one_of_kind<Nothing>());
}

// Swarm testing: each case has tastes of its own, and some kinds of command not at all. Requests
// are never rare, since most other commands need a live block.
CommandGenerator draw_commands() {
  const auto weight = [] { return *rc::gen::inRange<std::size_t>(0, 10); };
  return rc::gen::weightedOneOf<CommandPointer>({{10 + 3 * weight(), one_of_kind<Allocate>()},
                                                 {4 * weight(), one_of_kind<FreeBlock>()},
                                                 {weight(), one_of_kind<CheckedFree>()},
                                                 {weight(), one_of_kind<FreeOn>()},
                                                 {weight(), one_of_kind<RecordStream>()},
                                                 {weight(), one_of_kind<LaunchWork>()},
                                                 {weight(), one_of_kind<Advance>()},
                                                 {weight(), one_of_kind<ProcessEvents>()},
                                                 {weight(), one_of_kind<Synchronize>()},
                                                 {weight(), one_of_kind<EmptyCache>()},
                                                 {weight(), one_of_kind<DoubleFree>()},
                                                 {weight(), one_of_kind<ForeignFree>()},
                                                 {weight(), draw_bad_input()}});
}

RC_GTEST_PROP(PublicFace, DoesWhatACallerCanRelyOn, ()) {
  const CommandGenerator commands = draw_commands();
  // The size is that of the list alone: what commands draw has a size of its own. RapidCheck keeps
  // the generator for as long as it shrinks, and so the lambda must own what it gives.
  constexpr int most_commands = 300;
  const auto drawn = *rc::gen::resize(
      most_commands,
      rc::state::gen::commands(FaceModel{}, [commands](const FaceModel&) { return commands; }));
  const cairn::invariants::Recorder recorder;
  cairn::Options options;
  if (*rc::gen::arbitrary<bool>()) options.stream_identity = cairn::StreamIdentity::id;
  Face face(options);
  rc::state::runAll(drawn, FaceModel{}, face);
  FaceModel after;
  rc::state::applyAll(drawn, after);
  face.give_all_back(after);
  if (!recorder.violations().empty()) RC_FAIL(to_string(recorder.violations().front()));
}

}  // namespace
