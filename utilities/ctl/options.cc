// Copyright (c) 2026 The Trumpet Authors.
// SPDX-License-Identifier: Apache-2.0

#include "utilities/ctl/options.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

namespace trumpet {
namespace {

constexpr size_t kAny = 1000;

std::string PadTo(std::string text, size_t width) {
  text.resize(std::max(text.size() + 2, width), ' ');
  return text;
}

std::string DescribeOptions(const std::vector<CtlOption>& options) {
  std::string text;
  for (const CtlOption& option : options) {
    std::string left = std::string("  --") + option.name;
    if (option.value != nullptr) left += std::string("=") + option.value;
    text += PadTo(left, 26) + option.help + "\n";
  }
  return text;
}

std::string GeneralHelp() {
  std::string text =
      "trumpetctl: events of a network, and where they occur\n"
      "usage: trumpetctl [OPTION]... COMMAND [ARGUMENT]...\n\nCommands:\n";
  for (const CtlCommand& command : CtlCommands()) {
    text +=
        PadTo(std::string("  ") + command.name + " " + command.arguments, 34) + command.help + "\n";
  }
  return text + "\nOptions of all commands:\n" + DescribeOptions(CommonCtlOptions()) +
         "\nTRUMPET_SERVER, TRUMPET_TOKEN_FILE and TRUMPET_CA say the same as options, and so do\n"
         "server, token-file, ca and output in ~/.config/trumpet/trumpetctl.yaml.\n"
         "Exit status: 0 done, 1 it could not be done, 2 wrong usage.\n";
}

std::string HelpOf(const CtlCommand& command) {
  std::string text = std::string("trumpetctl ") + command.name + ": " + command.help +
                     "\nusage: trumpetctl " + command.name + " [OPTION]... " + command.arguments +
                     "\n";
  if (!command.options.empty()) text += "\nOptions:\n" + DescribeOptions(command.options);
  return text + "\nOptions of all commands:\n" + DescribeOptions(CommonCtlOptions());
}

const CtlOption* FindOption(const std::vector<CtlOption>& options, const std::string& name) {
  for (const CtlOption& option : options) {
    if (name == option.name) return &option;
  }
  return nullptr;
}

const CtlCommand* FindCommand(const std::string& name) {
  for (const CtlCommand& command : CtlCommands()) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

// The words of the line, told apart.
struct Words {
  std::vector<std::string> plain;
  std::vector<std::pair<std::string, std::string>> options;  // name, value
  std::vector<bool> has_value;
};

// An option's value is behind `=`, or the next word if the option takes one.
Status SplitWords(const std::vector<std::string>& arguments, Words* words) {
  const auto takes_value = [](const std::string& name) {
    const CtlOption* option = FindOption(CommonCtlOptions(), name);
    for (const CtlCommand& command : CtlCommands()) {
      if (option == nullptr) option = FindOption(command.options, name);
    }
    return option != nullptr && option->value != nullptr;
  };
  bool only_plain = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string word = arguments[i];
    if (word == "-o") word = "--output";
    if (word == "-h") word = "--help";
    if (word == "-V") word = "--version";
    if (word == "-w") word = "--write";
    if (only_plain || word.size() < 2 || word[0] != '-') {
      words->plain.push_back(word);
      continue;
    }
    if (word == "--") {
      only_plain = true;
      continue;
    }
    if (word.compare(0, 2, "--") != 0) return Status::Error("there is no option " + word);
    const size_t equals = word.find('=');
    const std::string name = word.substr(2, equals == word.npos ? word.npos : equals - 2);
    if (equals != word.npos) {
      words->options.emplace_back(name, word.substr(equals + 1));
      words->has_value.push_back(true);
    } else if (takes_value(name)) {
      if (i + 1 == arguments.size()) return Status::Error("--" + name + " needs a value");
      words->options.emplace_back(name, arguments[++i]);
      words->has_value.push_back(true);
    } else {
      words->options.emplace_back(name, "");
      words->has_value.push_back(false);
    }
  }
  return Status::Ok();
}

Status SetOutput(const std::string& text, CtlInvocation* invocation) {
  if (text == "table") {
    invocation->output = OutputFormat::kTable;
  } else if (text == "json") {
    invocation->output = OutputFormat::kJson;
  } else if (text == "yaml") {
    invocation->output = OutputFormat::kYaml;
  } else {
    return Status::Error("output is '" + text + "'; it takes table, json or yaml");
  }
  return Status::Ok();
}

// Of all commands; from any of the three sources.
Status SetCommon(const std::string& name, const std::string& value, CtlInvocation* invocation) {
  if (name == "output") return SetOutput(value, invocation);
  if (name == "server") {
    invocation->server = value;
    while (!invocation->server.empty() && invocation->server.back() == '/') {
      invocation->server.pop_back();
    }
    if (value.compare(0, 7, "http://") == 0 || value.compare(0, 8, "https://") == 0) {
      return Status::Ok();
    }
    return Status::Error("server is '" + value + "'; it begins with http:// or https://");
  }
  (name == "ca" ? invocation->ca_file : invocation->token_file) = value;
  return Status::Ok();
}

Status ReadConfig(std::string_view text, const std::string& source, CtlInvocation* invocation) {
  YAML::Node root;
  try {
    root = YAML::Load(std::string(text));
  } catch (const YAML::Exception& error) {
    return Status::Error(source + ":" + std::to_string(error.mark.line + 1) + ":" +
                         std::to_string(error.mark.column + 1) + ": " + error.msg);
  }
  if (root.IsNull()) return Status::Ok();
  if (!root.IsMap()) return Status::Error(source + ": want keys with values");
  for (const auto& item : root) {
    const std::string place = source + ":" + std::to_string(item.first.Mark().line + 1) + ":" +
                              std::to_string(item.first.Mark().column + 1) + ": ";
    if (!item.first.IsScalar() || !item.second.IsScalar()) {
      return Status::Error(place + "want a key and a text");
    }
    const std::string& name = item.first.Scalar();
    if (name != "server" && name != "token-file" && name != "ca" && name != "output") {
      return Status::Error(place + "'" + name + "' is not server, token-file, ca or output");
    }
    Status set = SetCommon(name, item.second.Scalar(), invocation);
    if (!set) return Status::Error(place + set.message());
  }
  return Status::Ok();
}

// The first one to three plain words; the rest are arguments.
Status TakeCommand(const std::vector<std::string>& plain, CtlInvocation* invocation) {
  if (plain.empty()) return Status::Error("which command? trumpetctl --help lists them");
  size_t used = 0;
  std::string typed_name;
  while (invocation->command == nullptr && used < std::min<size_t>(plain.size(), 3)) {
    typed_name += (used == 0 ? "" : " ") + plain[used];
    invocation->command = FindCommand(typed_name);
    ++used;
  }
  if (invocation->command == nullptr) {
    std::string known;
    for (const CtlCommand& command : CtlCommands()) {
      const std::string name = command.name;
      if (name.compare(0, plain[0].size() + 1, plain[0] + " ") == 0) {
        known += (known.empty() ? "" : ", ") + name;
      }
    }
    const std::string typed = plain[0] + (plain.size() > 1 && !known.empty() ? " " + plain[1] : "");
    return Status::Error("'" + typed + "' is no command; " +
                         (known.empty() ? "trumpetctl --help lists them" : "there are " + known));
  }
  invocation->arguments.assign(plain.begin() + static_cast<ptrdiff_t>(used), plain.end());
  return Status::Ok();
}

Status CheckArguments(const CtlInvocation& invocation) {
  const CtlCommand& command = *invocation.command;
  const size_t count = invocation.arguments.size();
  if (count >= command.min_arguments && count <= command.max_arguments) return Status::Ok();
  return Status::Error(std::string(count < command.min_arguments ? "too few" : "too many") +
                       " arguments; usage: trumpetctl " + command.name + " [OPTION]... " +
                       command.arguments);
}

constexpr CtlOption kBeginFrom = {"from", "TIME", "that begin at this time or later"};
constexpr CtlOption kBeginUntil = {"until", "TIME", "that begin before"};
constexpr CtlOption kAnswerTimeout = {"timeout", "SECONDS", "for the analyzers to answer (10)"};

// Those that say which traces are meant, and `more`.
std::vector<CtlOption> TraceOptions(const std::vector<CtlOption>& more) {
  std::vector<CtlOption> options = {
      {"src", "PREFIX", "of packets from there"},
      {"dst", "PREFIX", "to there"},
      {"protocol", "NAME|NUMBER", "tcp, udp, icmp, ..."},
      {"src-port", "N", "from this port"},
      {"dst-port", "N", "to this port"},
      {"verdict", "WORD", "delivered, dropped, copies_lost, loop or not_known"},
      {"mark", "WORD,...", "one of connection, protocol, debug and probe"},
      {"through", "SWITCH", "with a copy of this switch"},
      {"min-hops", "N", "with so many copies"}};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

// `what`, and of which traces.
std::vector<CtlOption> AppOptions(std::vector<CtlOption> what) {
  what.insert(what.end(), {kBeginFrom, kBeginUntil, kAnswerTimeout});
  return what;
}

// `what`, and in which steps of time it is counted.
std::vector<CtlOption> CountOptions(std::vector<CtlOption> what) {
  what.insert(what.end(), {{"from", "TIME", "from then on (the last ten minutes)"},
                           {"until", "TIME", "before that"},
                           {"step", "SECONDS", "that are added up (60)"},
                           {"limit", "N", "at most so many lines (1000)"},
                           kAnswerTimeout});
  return what;
}

std::vector<CtlOption> ProbeOptions() {
  return {{"via", "SWITCH,...", "over these switches, one behind the other, and then on"},
          {"count", "N", "so many packets (3)"},
          {"rate", "N", "packets per second (10)"},
          {"timeout", "SECONDS", "for traces, behind the last packet (5)"},
          {"background", nullptr, "do not wait; probe show tells later"}};
}

std::vector<CtlOption> BounceOptions(std::vector<CtlOption> more) {
  more.insert(more.end(), {{"count", "N", "so many packets (20)"},
                           {"rate", "N", "packets per second (10)"},
                           {"timeout", "SECONDS", "for copies, behind the last packet (2)"}});
  return more;
}

}  // namespace

const std::vector<CtlCommand>& CtlCommands() {
  static const std::vector<CtlCommand> commands = {
      {"event add",
       "FILE...",
       "add the events of files (- is standard input)",
       1,
       kAny,
       {{"replace", nullptr, "replace events that are there"},
        {"wait", "SECONDS", "until all hosts run them, at most so long (--wait: 60)"}}},
      {"event check",
       "FILE...",
       "say what would become of events, and change nothing",
       1,
       kAny,
       {}},
      {"event list", "", "list events", 0, 0, {}},
      {"event show", "NAME", "show an event, and how it is on its hosts", 1, 1, {}},
      {"event rm", "NAME...", "remove events", 1, kAny, {}},
      {"event enable", "NAME...", "let events run", 1, kAny, {}},
      {"event disable", "NAME...", "take events from the hosts and keep them", 1, kAny, {}},
      {"event watch",
       "[NAME...]",
       "print reports as they come",
       0,
       kAny,
       {{"after", "NUMBER", "begin after the report with this number"},
        {"count", "N", "end after so many reports"}}},
      {"report list",
       "",
       "list reports of the past, newest first",
       0,
       0,
       {{"event", "NAME", "of this event only"},
        {"from", "TIME", "that ended at this time or later (RFC 3339, or ns of Unix time)"},
        {"until", "TIME", "that ended before"},
        {"bucket", "JSON", "of this bucket only"},
        {"limit", "N", "at most so many (100)"}}},
      {"host list", "", "list hosts", 0, 0, {}},
      {"host show", "HOST", "show a host", 1, 1, {}},
      {"slice plan",
       "FILE",
       "say how a campaign would be mirrored, and why so; needs no controller",
       1,
       1,
       {{"controller", nullptr, "ask the controller: its network, and what it has measured"},
        {"map", "FILE", "the network: .edges, .gml, or a topology in YAML or JSON"},
        {"borders", "ROUTER,...", "where traffic enters, and leaves for want of a route"},
        {"routes", "PREFIX=ROUTER,...", "where it leaves; several separated by blanks"},
        {"rate", "MBPS", "of a prefix, in Mb/s (50)"},
        {"path-ms", "MS", "the longest path takes (0)"},
        {"slice-ms", "MS", "the shortest slice takes (25)"},
        {"spacing-ms", "MS", "between two slots (0)"},
        {"seconds", "N", "for the solvers (5)"}}},
      {"slice solve",
       "",
       "answer planning cases, one a line, from standard input; needs no controller",
       0,
       0,
       {{"topologies", "DIR", "with the maps that cases name, NAME.edges or NAME.gml"},
        {"seconds", "N", "for the solvers, per case (5); then the best found counts"}}},
      {"slice run",
       "NAME [FILE]",
       "run a campaign now, or add it from a file in the slice language",
       1,
       2,
       {{"wait", "SECONDS", "until the run has ended, and show it (--wait: 60)"}}},
      {"slice list", "", "list campaigns", 0, 0, {}},
      {"slice show", "NAME", "show a campaign, and its run or the last one", 1, 1, {}},
      {"slice packets",
       "NAME",
       "packets of a run that has ended, as pcapng",
       1,
       1,
       {{"run", "NUMBER", "of this run (default: the last one that has ended)"},
        {"write", "FILE", "or -w FILE: to this file (default, and -: standard output)"}}},
      {"slice stop", "NAME...", "stop the runs under way", 1, kAny, {}},
      {"slice rm", "NAME...", "remove campaigns", 1, kAny, {}},
      {"measure check",
       "FILE",
       "say what is wrong with a measurement program; needs no controller",
       1,
       1,
       {{"strict", nullptr, "warnings are errors"},
        {"param", "NAME=VALUE,...", "instead of the values in the program"},
        {"print", nullptr, "print the program in its canonical form"}}},
      {"measure install",
       "NAME FILE",
       "install a measurement program on all hosts, or on none",
       2,
       2,
       {{"param", "NAME=VALUE,...", "instead of the values in the program"},
        {"host", "HOST,...", "on these only (default: every host, those that come later, too)"},
        {"edge", "[HOST=]PORT,...", "where the network ends (default: all ports but uplinks)"},
        {"switch", "HOST=NUMBER,...", "what switch.id reads as (default: numbered from 1 on)"},
        {"lab", nullptr, "header checksums may carry tags"},
        {"endpoint", "NAME=ADDRESS,...", "where copies go: udp:IP:PORT or erspan:IP"},
        {"copy-rate", "N", "so many copies leave a host in a second, at most (10000)"}}},
      {"measure list", "", "list measurements", 0, 0, {}},
      {"measure show", "NAME", "show a measurement, and how it is on its hosts", 1, 1, {}},
      {"measure read",
       "NAME [VARIABLE]",
       "what all hosts together have measured",
       1,
       2,
       {{"key", "VALUE,...", "of this key only: values of its fields"},
        {"host", "HOST", "of this host only, by its id"},
        {"top", "N", "how many of the largest cells (10)"}}},
      {"measure watch",
       "NAME [VARIABLE]",
       "read again and again",
       1,
       2,
       {{"key", "VALUE,...", "of this key only: values of its fields"},
        {"host", "HOST", "of this host only, by its id"},
        {"top", "N", "how many of the largest cells (10)"},
        {"interval", "SECONDS", "between two reads (1)"},
        {"count", "N", "so many reads (default: until it is interrupted)"}}},
      {"measure ask",
       "NAME [FIELD=VALUE...]",
       "have tasks of ctrl at all hosts answer a packet with these fields",
       1,
       kAny,
       {{"host", "HOST", "of this host only, by its id"}}},
      {"measure rm", "NAME...", "remove measurements from all hosts", 1, kAny, {}},
      {"trace rules check",
       "FILE",
       "say what is wrong with trace rules; needs no controller",
       1,
       1,
       {{"print", nullptr, "print the rules in their canonical form"}}},
      {"trace rules compile",
       "FILE",
       "print the flows and meters of a switch; needs no controller",
       1,
       1,
       {{"number", "N", "of the switch, which copies carry (1)"},
        {"port", "N", "the switch's port to the analyzers (1)"},
        {"tunnel", "KIND", "of that port: gre (default) or erspan"},
        {"analyzers", "ADDRESS,...", "of the network: tunnels there are not copied"},
        {"local", "PREFIX,...", "of hosts at this switch: the debug bit is taken off"},
        {"switches", "N", "that share the budget of the network (1)"}}},
      {"trace rules import",
       "FILE",
       "print the Everflow rules of a config_db.json of SONiC as trace rules; needs no controller",
       1,
       1,
       {{"ports", "NAME=N,...", "OpenFlow's numbers of SONiC's ports, for rules with IN_PORTS"},
        {"sessions", nullptr, "show the sessions instead, as show mirror_session does"}}},
      {"trace rules export",
       "FILE",
       "print trace rules as parts of a config_db.json of SONiC; needs no controller",
       1,
       1,
       {{"source", "ADDRESS", "of the switch, from which copies come"},
        {"target", "ADDRESS", "of the analyzers, to which they go"}}},
      {"trace rules apply",
       "FILE",
       "have all switches copy what these rules say, instead of those before; all or none",
       1,
       1,
       {}},
      {"trace rules list", "", "list the trace rules, and whether their copies come", 0, 0, {}},
      {"trace rules show", "NAME", "show a trace rule, and how it is at each switch", 1, 1, {}},
      {"trace rules rm", "", "remove all trace rules from all switches", 0, 0, {}},
      {"trace reshuffler list", "", "list reshufflers, and whose slots moved last", 0, 0, {}},
      {"trace reshuffler show",
       "NAME",
       "show a reshuffler, and what each analyzer has of it",
       1,
       1,
       {}},
      {"trace query", "", "list traces of packets, by the time of their first copy", 0, 0,
       TraceOptions({kBeginFrom,
                     kBeginUntil,
                     {"limit", "N", "at most so many (100)"},
                     {"after", "CURSOR", "behind the page that ended so"},
                     kAnswerTimeout,
                     {"estimate", nullptr, "say instead how much there is to look at"}})},
      {"trace show", "ID", "show a trace, hop by hop", 1, 1, {}},
      {"trace watch", "", "print traces as they are told", 0, 0,
       TraceOptions({{"count", "N", "end after so many"}})},
      {"trace export", "", "write the packets of traces to a file, without what they carry", 0, 0,
       TraceOptions({kBeginFrom,
                     kBeginUntil,
                     {"limit", "N", "at most so many (10000)"},
                     kAnswerTimeout,
                     {"format", "FORMAT", "pcapng (default), or json: the traces, one a line"},
                     {"payload", nullptr, "with what packets carry; takes the role operate"},
                     {"write", "FILE", "or -w FILE: to this file"}})},
      {"app drops", "", "say where packets are lost, and which", 0, 0, AppOptions({})},
      {"app loops", "", "say which switches packets go round", 0, 0, AppOptions({})},
      {"app ecmp", "", "say whether connections are spread evenly", 0, 0,
       AppOptions({{"at", "SWITCH", "that spreads them"},
                   {"members", "SWITCH,...", "over these next ones"}})},
      {"app latency", "", "say how long links take, and which has become slower", 0, 0,
       AppOptions({{"earlier", "TIME", "compare with as long a time from then on"}})},
      {"app roce", "", "say what NAKs, notifications and PAUSE of RDMA tell", 0, 0, AppOptions({})},
      {"counter links", "", "show what links carried, by the copies of packets", 0, 0,
       CountOptions({{"through", "SWITCH", "links of this switch"}})},
      {"counter traces", "", "show how many traces there are of a kind", 0, 0,
       CountOptions(TraceOptions({}))},
      {"counter add", "NAME", "count traces of a kind under a name, from now on", 1, 1,
       TraceOptions({{"step", "SECONDS", "that are added up (10)"}})},
      {"counter list", "", "list the named counters of traces", 0, 0, {}},
      {"counter show",
       "NAME",
       "show what a named counter has counted",
       1,
       1,
       {{"from", "TIME", "from then on (the last ten minutes)"},
        {"until", "TIME", "before that"},
        {"step", "SECONDS", "that are added up (the counter's own)"},
        {"limit", "N", "at most so many lines (1000)"},
        {"stored", nullptr, "count the traces that are stored instead"},
        kAnswerTimeout}},
      {"counter rm", "NAME...", "remove named counters", 1, kAny, {}},
      {"probe send", "SWITCH PORT FIELD=VALUE...",
       "send packets as if they came in there, and say which way they took", 3, kAny,
       ProbeOptions()},
      {"probe replay", "TRACE",
       "send packets like that of a trace where it came in, and say which way they took", 1, 1,
       ProbeOptions()},
      {"probe bounce", "SWITCH [PORT]",
       "measure the round trip of a link by packets that its other end sends back", 1, 2,
       BounceOptions({{"to", "SWITCH", "over the link to this one"},
                      {"background", nullptr, "do not wait; probe bounces tells later"}})},
      {"probe links", "", "measure the round trips of all links", 0, 0, BounceOptions({})},
      {"probe bounces", "", "list the last measurements of links", 0, 0, {}},
      {"probe list", "", "list the last probes", 0, 0, {}},
      {"probe show", "ID", "show a probe, and what became of each packet", 1, 1, {}},
      {"probe drops",
       "[SWITCH PORT FIELD=VALUE...]",
       "find out why such packets are dropped, by packets that differ in one field",
       0,
       kAny,
       {{"trace", "ID", "packets like that of this trace, where it came in"},
        {"src-within", "PREFIX", "addresses to try instead of srcIP (those of its host)"},
        {"dst-within", "PREFIX", "addresses to try instead of dstIP (those of its host)"},
        {"count", "N", "packets of the flow at first (40)"},
        {"rate", "N", "packets per second (half of what the controller may send)"},
        {"timeout", "SECONDS", "for traces, behind the last packet of a round (5)"},
        {"background", nullptr, "do not wait; probe search tells later"}}},
      {"probe searches", "", "list the last searches for causes of drops", 0, 0, {}},
      {"probe search", "ID", "show a search, and what it has found", 1, 1, {}},
      {"probe stop", "ID...", "end searches with what they have found", 1, kAny, {}},
      {"store migrate",
       "",
       "copy an analyzer's traces to servers, or back, on its machine; needs no controller",
       0,
       0,
       {{"from", "PLACE", "a directory, files:DIRECTORY, or clickhouse:URL,..."},
        {"to", "PLACE", "likewise"},
        {"progress", "FILE", "how far it is, if neither place is a directory"}}},
      {"topology show", "", "show hosts, prefixes, switches and links", 0, 0, {}},
      {"simulate", "EVENTS PCAP", "run events of a file over a capture", 2, 2, {}},
      {"status", "", "is the controller well?", 0, 0, {}},
      {"token new",
       "NAME",
       "make a token, and its entry for the file of tokens",
       1,
       1,
       {{"role", "ROLE", "read (default), operate or admin"},
        {"tenant", "TENANT", "sees and changes only this tenant's events"},
        {"expires", "DAY", "void from this day on, 2027-01-31"},
        {"append", "FILE", "put the entry into this file of tokens, made if it is not there"}}},
  };
  return commands;
}

const std::vector<CtlOption>& CommonCtlOptions() {
  static const std::vector<CtlOption> options = {
      {"server", "URL", "of the controller (http://127.0.0.1:8650)"},
      {"token-file", "FILE", "holds the token to use"},
      {"ca", "FILE", "certificates to trust, instead of the system's"},
      {"output", "FORMAT", "or -o FORMAT: table, json or yaml"},
      {"help", nullptr, "or -h: this text"},
      {"version", nullptr, "or -V: the version"},
  };
  return options;
}

std::string CtlInvocation::Get(const std::string& option, const std::string& otherwise) const {
  const auto found = options.find(option);
  return found == options.end() ? otherwise : found->second;
}

Result<CtlInvocation> ParseCtlArguments(const std::vector<std::string>& arguments,
                                        const Environment& environment,
                                        std::string_view config_text,
                                        const std::string& config_name) {
  // `--wait` alone is allowed; everywhere else a value must follow.
  std::vector<std::string> prepared = arguments;
  std::replace(prepared.begin(), prepared.end(), std::string("--wait"), std::string("--wait=60"));
  CtlInvocation invocation;
  Words words;
  Status status = SplitWords(prepared, &words);
  if (!status) return status;
  const auto given = [&](const char* name) {
    return std::any_of(words.options.begin(), words.options.end(),
                       [&](const auto& option) { return option.first == name; });
  };
  if (given("version")) {
    invocation.help = "trumpetctl " TRUMPET_VERSION "\n";
    return invocation;
  }
  if (words.plain.empty() && given("help")) {
    invocation.help = GeneralHelp();
    return invocation;
  }
  status = TakeCommand(words.plain, &invocation);
  if (!status) return status;
  if (given("help")) {
    invocation.help = HelpOf(*invocation.command);
    return invocation;
  }
  status = ReadConfig(config_text, config_name, &invocation);
  if (!status) return status;
  const std::pair<const char*, const char*> variables[] = {
      {"server", "TRUMPET_SERVER"}, {"token-file", "TRUMPET_TOKEN_FILE"}, {"ca", "TRUMPET_CA"}};
  for (const auto& [name, variable] : variables) {
    const std::string value = environment(variable);
    if (value.empty()) continue;
    status = SetCommon(name, value, &invocation);
    if (!status) return Status::Error(std::string(variable) + ": " + status.message());
  }
  for (size_t i = 0; i < words.options.size(); ++i) {
    const auto& [name, value] = words.options[i];
    const CtlOption* option = FindOption(invocation.command->options, name);
    const bool is_common = option == nullptr;
    if (is_common) option = FindOption(CommonCtlOptions(), name);
    if (option == nullptr) {
      return Status::Error(std::string("trumpetctl ") + invocation.command->name +
                           " has no option --" + name);
    }
    if (words.has_value[i] != (option->value != nullptr)) {
      return Status::Error("--" + name +
                           (option->value != nullptr ? " needs a value" : " takes no value"));
    }
    if (!is_common) {
      invocation.options[name] = value;
      continue;
    }
    status = SetCommon(name, value, &invocation);
    if (!status) return status;
  }
  status = CheckArguments(invocation);
  if (!status) return status;
  return invocation;
}

}  // namespace trumpet
