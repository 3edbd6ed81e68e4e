// Topics and the one place that writes lines.
#include "runtime/log.h"

#include "runtime/uncancelled.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace weft {

namespace {

constexpr std::array<std::string_view, 6> topic_names{"cache", "compile", "plan",
                                                      "tier",  "memory",  "tune"};
static_assert(topic_names.size() == static_cast<std::size_t>(LogTopic::tune) + 1);

std::uint32_t parse_topics(std::string_view topics) {
  std::uint32_t mask = 0;
  while (!topics.empty()) {
    const std::size_t comma = topics.find(',');
    const std::string_view topic = topics.substr(0, comma);
    topics = comma == std::string_view::npos ? std::string_view{} : topics.substr(comma + 1);
    if (topic == "all") mask |= (1u << topic_names.size()) - 1;
    bool is_known = topic.empty() || topic == "all";
    for (std::size_t i = 0; i < topic_names.size(); ++i) {
      if (topic != topic_names[i]) continue;
      mask |= 1u << i;
      is_known = true;
    }
    WEFT_CHECK(is_known, ArgumentError, "Unknown log topic '", topic,
               "', expected some of cache,compile,plan,tier,memory,tune or all.");
  }
  return mask;
}

/// A wrong WEFT_LOG must not stop the program, and nobody could catch an exception at start.
std::uint32_t topics_from_environment() {
  const char* topics = ::secure_getenv("WEFT_LOG");
  if (topics == nullptr) return 0;
  try {
    return parse_topics(topics);
  } catch (const Error& error) {
    std::fprintf(stderr, "weft: WEFT_LOG is ignored: %s\n", error.what());
    return 0;
  }
}

}  // namespace

namespace detail {

// Zero until this file's initialisers have run, so that logging from another file's is silent.
std::atomic<std::uint32_t> enabled_log_topics{topics_from_environment()};

void write_log_line(LogTopic topic, std::string_view message) {
  const std::string line = concat("weft ", name(topic), ": ", message, "\n");
  const Uncancelled scope;
  // One write() a line keeps threads and processes apart.  A closed stderr is nobody's error.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace detail

std::string_view name(LogTopic topic) { return topic_names[static_cast<std::size_t>(topic)]; }

void set_log_topics(std::string_view topics) {
  detail::enabled_log_topics.store(parse_topics(topics), std::memory_order_relaxed);
}

}  // namespace weft
