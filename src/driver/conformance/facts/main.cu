// Prints what the CUDA driver of this machine answers, as a table, or as JSON with --json. Exits
// with 77 where there is no GPU.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "facts.h"

namespace facts {
namespace {

constexpr int no_gpu = 77;
int parent_pipe = -1;

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = read(file, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

// Runs find() in a child, and gives what it told; `how` says how it ended, if not well.
std::string run_in_child(void (*find)(), std::string& how) {
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0) return "";
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    parent_pipe = ends[1];
    find();
    _exit(0);
  }
  close(ends[1]);
  const std::string told = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) how = std::string("ended by signal ") + strsignal(WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) how = "ended early";
  return told;
}

// The reverse of tell().
std::vector<Fact> parse(const std::string& told) {
  std::vector<Fact> facts;
  std::array<std::string, 5> columns;
  std::size_t column = 0;
  for (const char c : told) {
    if (c == '\t') {
      ++column;
    } else if (c == '\n') {
      facts.push_back({columns[0], columns[1], columns[2], columns[3], columns[4]});
      columns = {};
      column = 0;
    } else {
      columns[column] += c;
    }
  }
  return facts;
}

std::vector<Fact> find_all() {
  std::vector<Group> groups = capture_groups();
  for (const Group& group : other_groups()) groups.push_back(group);
  std::vector<Fact> all;
  for (const Group& group : groups) {
    std::string how;
    for (Fact& fact : parse(run_in_child(group.find, how))) all.push_back(std::move(fact));
    if (!how.empty()) all.push_back({group.name, "", "", how, ""});
  }
  return all;
}

// Two lines: the driver's version, and the name of device 0.
void tell_machine() {
  const Session session = open_session();
  std::array<char, 100> name{};
  int version = 0;
  must(session.api.driver_get_version(&version), "cuDriverGetVersion");
  must(session.api.device_get_name(name.data(), static_cast<int>(name.size()), 0),
       "cuDeviceGetName");
  tell({std::to_string(version), "", "", "", ""});
  tell({name.data(), "", "", "", ""});
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return result + "\"";
}

void print_json(const std::vector<Fact>& machine, const std::vector<Fact>& facts) {
  std::printf("{\"cuda_driver\": %s, \"gpu\": %s, \"facts\": [", machine[0].call.c_str(),
              quoted(machine[1].call).c_str());
  const char* separator = "\n";
  for (const Fact& fact : facts) {
    std::printf(
        "%s  {\"call\": %s, \"capture_mode\": %s, \"caller\": %s, \"code\": %s, \"afterwards\": "
        "%s}",
        separator, quoted(fact.call).c_str(), quoted(fact.capture_mode).c_str(),
        quoted(fact.caller).c_str(), quoted(fact.code).c_str(), quoted(fact.afterwards).c_str());
    separator = ",\n";
  }
  std::printf("\n]}\n");
}

void print_table(const std::vector<Fact>& machine, const std::vector<Fact>& facts) {
  std::printf("CUDA driver %s, %s\n", machine[0].call.c_str(), machine[1].call.c_str());
  std::string heading;
  for (const Fact& fact : facts) {
    const std::string now =
        fact.capture_mode.empty() ? "no capture" : fact.capture_mode + " capture, " + fact.caller;
    if (now != heading) std::printf("\n%s\n", now.c_str());
    heading = now;
    std::printf("  %-62s %-46s %s\n", fact.call.c_str(), fact.code.c_str(),
                fact.afterwards.c_str());
  }
}

int run(bool as_json) {
  std::string how;
  const std::vector<Fact> machine = parse(run_in_child(tell_machine, how));
  if (machine.size() != 2) {
    std::printf("skipped: no NVIDIA GPU here, or no driver of CUDA 12 or later\n");
    return no_gpu;
  }
  const std::vector<Fact> facts = find_all();
  as_json ? print_json(machine, facts) : print_table(machine, facts);
  return 0;
}

}  // namespace

// Read by parse(). One write for each, so that those before a crash are kept.
void tell(const Fact& fact) {
  const std::string line = fact.call + "\t" + fact.capture_mode + "\t" + fact.caller + "\t" +
                           fact.code + "\t" + fact.afterwards + "\n";
  if (write(parent_pipe, line.data(), line.size()) < 0) _exit(1);
}

}  // namespace facts

int main(int count, char** arguments) {
  const bool as_json = count == 2 && std::strcmp(arguments[1], "--json") == 0;
  if (count > 1 && !as_json) {
    std::printf("usage: cuda_facts [--json]   # what this machine's CUDA driver answers\n");
    return std::strcmp(arguments[1], "--help") == 0 ? 0 : 2;
  }
  return facts::run(as_json);
}
