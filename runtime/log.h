// What weft does, told on stderr for those who ask: WEFT_LOG=cache,compile or WEFT_LOG=all.
#pragma once

#include <weft/error.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <string_view>

namespace weft {

enum class LogTopic : std::uint8_t {
  cache,    ///< hits, misses and evictions of kernels
  compile,  ///< each compilation: kernel, backend, time
  plan,     ///< iterator decisions: fast set-up, order, coalesced shape
  tier,     ///< why a backend was skipped
  memory,   ///< blocks that are mapped and given back
  tune,     ///< a file of thresholds that is not used, and why
};

namespace detail {
extern std::atomic<std::uint32_t> enabled_log_topics;  ///< one bit a topic
void write_log_line(LogTopic topic, std::string_view message);
}  // namespace detail

/// Whether lines of this topic are written.  Costs one relaxed load.
inline bool is_logged(LogTopic topic) {
  const std::uint32_t topics = detail::enabled_log_topics.load(std::memory_order_relaxed);
  return (topics >> static_cast<unsigned>(topic)) & 1u;
}

/// Writes the parts as one line, "weft cache: ...", if the topic is enabled.  The parts are turned
/// into text only then; put `is_logged()` in front if computing them is not free.
///
/// Threads: lines of several threads do not mix.
/// Without memory for a line there is none, which is no error.
template <class... Parts>
void log(LogTopic topic, const Parts&... parts) {
  if (!is_logged(topic)) [[likely]]
    return;
  try {
    detail::write_log_line(topic, detail::concat(parts...));
  } catch (const std::bad_alloc&) {
  }
}

std::string_view name(LogTopic topic);

/// Enables exactly the topics in `topics`: names separated by commas, or "all".  At start this is
/// done with the environment variable WEFT_LOG.
///
/// Errors: ArgumentError that lists the topics, if one is unknown; then nothing has changed.
void set_log_topics(std::string_view topics);

}  // namespace weft
