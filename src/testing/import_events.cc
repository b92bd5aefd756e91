#include "testing/import_events.h"

#include "testing/csv.h"
#include "testing/import_map.h"
#include "testing/import_recording.h"

namespace cairn::testing {
namespace {

enum Column : std::size_t { device, sequence, time_us, action, address, size, stream, pool };

ImportResult<RecordedEvent> read_event(CsvRow& row) {
  RecordedEvent event;
  const std::uint64_t index = row.number(Column::device, "device");
  event.address = {row.number(Column::address, "addr")};
  event.size = {row.number(Column::size, "size")};
  event.stream = row.number(Column::stream, "stream");
  const auto known = action_from(row.text(Column::action));
  if (!known) row.refuse_row("the action is none that is known");
  if (index >= most_devices) row.refuse_row("device is " + std::to_string(index));
  const std::string_view pool_id = row.text(Column::pool);
  if (!pool_id.empty() && pool_id != "0:0") row.refuse_row("the event is of a private pool");
  if (row.error()) return Failure{*row.error()};
  event.action = *known;
  event.device = static_cast<DeviceIndex>(index);
  event.where = "line " + std::to_string(row.line());
  return event;
}

}  // namespace

ImportResult<Imported> import_events(const EventFiles& files) {
  Recording recording;
  recording.best_fit_tie = files.best_fit_tie;
  if (!files.initial.empty()) {
    auto initial = read_map(files.initial, "the initial map");
    if (!initial) return Failure{initial.error()};
    recording.initial = std::move((*initial).map);
    recording.settings = std::move((*initial).settings);
  }
  if (!files.final.empty()) {
    auto final = read_map(files.final, "the final map");
    if (!final) return Failure{final.error()};
    recording.final = std::move((*final).map);
    recording.settings = std::move((*final).settings);
  }
  CsvReader reader(files.events, events_header);
  if (auto error = reader.read_header()) return Failure{*error};
  while (auto row = reader.next()) {
    auto event = read_event(*row);
    if (!event) return Failure{event.error()};
    recording.events.push_back(std::move(*event));
  }
  return program_of(recording);
}

}  // namespace cairn::testing
