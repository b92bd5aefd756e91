// A main for fuzz targets where there is no libFuzzer: runs the files given, and the files of the
// folders given, each once and in the order of their names. A finding aborts, as under libFuzzer.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "testing/command_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::filesystem::path> files_at(const std::filesystem::path& place) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(place)) return {place};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool run(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return false;
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Runs a fuzz target on the files given, and on those of the folders given, once.");
  std::vector<std::string> places;
  app.add_option("FILE", places, "Inputs, and folders of inputs")->required();
  app.footer("Exit codes: 0 nothing found; 2 wrong usage, or no input; a finding aborts.");
  if (const auto code = cairn::testing::exit_code_of(app, count, arguments)) return *code;
  std::size_t runs = 0;
  for (const std::string& place : places) {
    for (const auto& file : files_at(place)) {
      if (!run(file)) {
        std::fprintf(stderr, "%s: cannot be read\n", file.c_str());
        return 2;
      }
      ++runs;
    }
  }
  std::printf("%zu inputs\n", runs);
  return runs == 0 ? 2 : 0;
}
