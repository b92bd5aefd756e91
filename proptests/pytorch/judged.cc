// Cairn's functions for PyTorch, with the simulated CUDA's judge told of every block that is handed
// out and taken back; and the requests written down. What the application said of streams it tells
// by itself (judged_use), so that a record_stream which does not reach Cairn is seen.
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "cairn/plugins.h"
#include "simulator/libcuda/control.h"

namespace {

struct Held {
  std::size_t size = 0;
  int number = 0;
  std::vector<cairn_stream> told;
};

struct Story {
  std::mutex mutex;  // Not held while Cairn is called.
  std::map<void*, Held> held;
  std::map<cairn_stream, std::string> streams{{nullptr, "s0"}};
  std::vector<std::string> lines;
  int requests = 0;

  std::string name_of(cairn_stream stream) {
    const auto [place, is_new] = streams.try_emplace(stream);
    if (is_new) place->second = "s" + std::to_string(streams.size() - 1);
    return place->second;
  }
};

Story& story() {
  static auto* const never_ends = new Story;  // PyTorch frees tensors at the very end.
  return *never_ends;
}

void fail_unless(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("judged: the simulated CUDA refuses ") + what);
}

int note_request(ssize_t size, cairn_stream stream) {
  Story& now = story();
  const std::lock_guard<std::mutex> lock(now.mutex);
  const int number = ++now.requests;
  now.lines.push_back("alloc b" + std::to_string(number) + " " + std::to_string(size) + " " +
                      now.name_of(stream));
  return number;
}

void note_failure(int number) {
  Story& now = story();
  const std::lock_guard<std::mutex> lock(now.mutex);
  const std::string begins = "alloc b" + std::to_string(number) + " ";
  for (auto line = now.lines.rbegin(); line != now.lines.rend(); ++line) {
    if (line->rfind(begins, 0) != 0) continue;
    *line = "# a request failed";
    return;
  }
}

}  // namespace

extern "C" {

void* judged_alloc(ssize_t size, int device, cairn_stream stream) {
  const int number = note_request(size, stream);
  void* pointer = nullptr;
  try {
    pointer = cairn_torch_alloc(size, device, stream);
  } catch (...) {
    note_failure(number);
    throw;
  }
  if (pointer == nullptr) return nullptr;
  const auto bytes = static_cast<std::size_t>(size);
  fail_unless(cairn_sim_hand_out(stream, pointer, bytes) == 0, "a block that Cairn gave");
  const std::lock_guard<std::mutex> lock(story().mutex);
  story().held[pointer] = {bytes, number, {}};
  return pointer;
}

void judged_free(void* pointer, ssize_t size, int device, cairn_stream stream) {
  if (pointer != nullptr) {
    Story& now = story();
    const std::lock_guard<std::mutex> lock(now.mutex);
    const Held held = now.held.at(pointer);
    now.held.erase(pointer);
    now.lines.push_back("free b" + std::to_string(held.number));
    cairn_sim_take_back(pointer, held.size, held.told.data(), held.told.size());
  }
  cairn_torch_free(pointer, size, device, stream);
}

// The application has said that the stream uses the block.
void judged_use(void* pointer, cairn_stream stream) {
  Story& now = story();
  const std::lock_guard<std::mutex> lock(now.mutex);
  const auto place = now.held.find(pointer);
  if (place == now.held.end()) return;
  place->second.told.push_back(stream);
  now.lines.push_back("use b" + std::to_string(place->second.number) + " " + now.name_of(stream));
}

// The requests as a Program (src/testing/README.md), for one device of `memory` bytes. 0 is fine.
int judged_write(const char* path, unsigned long long memory) {
  Story& now = story();
  const std::lock_guard<std::mutex> lock(now.mutex);
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return 1;
  std::fprintf(file, "gpu 0 memory=%llu\n", memory);
  for (std::size_t i = 1; i < now.streams.size(); ++i) std::fprintf(file, "stream s%zu\n", i);
  for (const std::string& line : now.lines) std::fprintf(file, "%s\n", line.c_str());
  return std::fclose(file) == 0 ? 0 : 1;
}

}  // extern "C"
