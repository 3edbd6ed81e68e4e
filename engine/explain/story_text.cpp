// A story as text for a terminal or a pipe.
#include "engine/explain/story.h"

#include <weft/error.h>

#include <cstdio>
#include <string_view>

namespace weft {
namespace {

constexpr std::size_t line_columns = 100;

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 100 ? "%.0f" : "%.3g", value);
  return text;
}

std::string time_text(double ns) {
  if (ns >= 1e9) return number_text(ns / 1e9) + " s";
  if (ns >= 1e6) return number_text(ns / 1e6) + " ms";
  return ns >= 1e3 ? number_text(ns / 1e3) + " us" : number_text(ns) + " ns";
}

class Writer {
 public:
  explicit Writer(const StoryStyle& style) : style_(style) {}

  void headline(const std::string& text) {
    paint("1");
    text_ += text;
    paint("0");
    text_ += '\n';
  }

  void chapter(const Story::Chapter& chapter) {
    text_ += '\n';
    paint("1;36");
    text_ += chapter.title;
    paint("0");
    text_ += '\n';
    for (const std::string& line : chapter.lines) wrapped(line);
  }

  std::string take() { return std::move(text_); }

 private:
  void paint(std::string_view code) {
    if (style_.colours) text_.append("\033[").append(code).append("m");
  }

  /// Breaks between words; what belongs to a line stands further in.
  void wrapped(std::string_view line) {
    std::size_t indent = 2;
    while (line.size() + indent > line_columns) {
      std::size_t cut = line.rfind(' ', line_columns - indent);
      if (cut == line.npos || cut == 0) cut = line.find(' ', line_columns - indent);
      if (cut == line.npos) break;
      text_.append(indent, ' ').append(line.substr(0, cut)).append("\n");
      line.remove_prefix(cut + 1);
      indent = 6;
    }
    text_.append(indent, ' ').append(line).append("\n");
  }

  StoryStyle style_;
  std::string text_;
};

}  // namespace

Story::Chapter cost_chapter(const Story& story, const MachineSpeed& machine) {
  Story::Chapter chapter{"cost", {}};
  const auto say = [&](const auto&... text) { chapter.lines.push_back(detail::concat(text...)); };
  const std::int64_t bytes = moved_bytes(story);
  std::string each;
  if (story.numel > 0)
    each = ", " + number_text(static_cast<double>(bytes) / static_cast<double>(story.numel)) +
           " an element";
  say("reads ", bytes_text(story.read_bytes), ", writes ", bytes_text(story.written_bytes), each);
  const Prediction prediction = predict(story, machine);
  const bool waits_for_memory = prediction.memory_ns >= prediction.compute_ns;
  say("one thread, at the least: ", time_text(prediction.ns()),
      waits_for_memory ? ", waiting for memory" : ", busy with instructions");
  say("memory ", time_text(prediction.memory_ns), " at ",
      number_text(machine.bytes_per_second / 1e9), " GB/s (", machine.source, ")");
  if (prediction.compute_ns > 0)
    say("instructions ", time_text(prediction.compute_ns),
        " if four of the hot loop end a cycle, at ", number_text(machine.clock_hz / 1e9), " GHz");
  return chapter;
}

std::string story_text(const Explanation& explanation, const MachineSpeed& machine,
                       const StoryStyle& style) {
  const Story& story = explanation.story;
  Writer writer(style);
  writer.headline(story.expression + "  ->  " + story.result);
  for (const Story::Chapter& chapter : story.chapters) writer.chapter(chapter);
  // A device's speed is not this machine's.
  if (explanation.backend != "nvrtc") writer.chapter(cost_chapter(story, machine));
  return writer.take();
}

std::string story_text(const Explanation& explanation, const StoryStyle& style) {
  return story_text(explanation, measure_machine(explanation.story), style);
}

}  // namespace weft
