"""Pictures of weft_bench's results, drawn by matplotlib.  What each shows is chosen by functions that need none."""
import collections
import math

LIMITS = ["stream", "memcpy"]  # best first
COLOURS = {"weft": "#4477aa", "peer": "#ccbb44", "limit": "#cc3311", "cache": "#999999"}


def size_of(text):
    """Elements of "1e6", "4x64x64x64" or "3e7"; a "/tN" behind it does not count."""
    return math.prod(float(part) for part in text.split("/")[0].split("x"))


def limit_of(variants):
    return next((variants[name] for name in LIMITS if name in variants and variants[name].rate), None)


def bars(table, mine, best_peer):
    """Of each workload that has a limit, at the size nearest to a million elements: (label, weft, best peer or None, limit) in GB/s."""
    sizes = collections.defaultdict(list)
    for (workload, size), variants in table.items():
        own = mine(variants)
        if "/t" not in size and own and variants[own].rate and limit_of(variants):
            sizes[workload].append(size)
    rows = []
    for workload, found in sizes.items():
        size = min(found, key=lambda text: abs(math.log(max(size_of(text), 1) / 1e6)))
        variants = table[workload, size]
        peer = best_peer(variants)
        rows.append((f"{workload} {size}", variants[mine(variants)].rate, variants[peer].rate if peer else None,
                     limit_of(variants).rate))
    return sorted(rows)


def sweeps(table, mine):
    """workload -> line -> [(bytes a call, GB/s)] by bytes, where there are three sizes or more."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for (workload, size), variants in table.items():
        own = mine(variants)
        if "/t" in size or own is None or not variants[own].rate:
            continue
        for line, point in [("weft", variants[own]), ("interp", variants.get("interp")), ("limit", limit_of(variants))]:
            if point is not None and point.rate:
                found[workload][line].append((point.rate * point.ns, point.rate))
    return {workload: {line: sorted(points) for line, points in lines.items()} for workload, lines in sorted(found.items())
            if len(lines["weft"]) >= 3}


def latencies(table, mine, best_peer):
    """(call, weft, best peer or None) in ns."""
    rows = []
    for (workload, size), variants in table.items():
        own, peer = mine(variants), best_peer(variants)
        if own and workload.startswith(("call_", "plan_")):
            rows.append((f"{workload} {size}", variants[own].ns, variants[peer].ns if peer else None))
    return sorted(rows)


def scaling(table, mine):
    """(workload, threads) -> [(elements, times as fast as on one thread)]."""
    lines = collections.defaultdict(list)
    for (workload, size), variants in table.items():
        elements, _, threads = size.partition("/t")
        one = table.get((workload, elements + "/t1"), {})
        own = mine(variants)
        if threads and threads != "1" and own in one:
            lines[workload, int(threads)].append((size_of(elements), one[own].ns / variants[own].ns))
    return {key: sorted(points) for key, points in sorted(lines.items())}


def compile_times(table):
    """backend -> [(label, us, standard error in us)], fastest first."""
    found = collections.defaultdict(list)
    for (workload, size), variants in table.items():
        if workload.startswith(("first_call_", "compile_")):
            for variant, point in variants.items():
                found[variant].append((f"{workload} {size}", point.ns / 1e3, (point.noise or 0) * point.ns / 1e3))
    return {backend: sorted(rows, key=lambda row: row[1]) for backend, rows in sorted(found.items())}


def new_figure(width, height):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    figure = Figure(figsize=(width, height), layout="tight")
    FigureCanvasAgg(figure)
    return figure


def beside(axes, labels, columns, unit):
    """Horizontal bars of several columns, side by side; columns are (name, values with gaps, colour)."""
    height = 0.8 / len(columns)
    for number, (name, values, colour) in enumerate(columns):
        there = [(place + number * height, value) for place, value in enumerate(values) if value is not None]
        axes.barh([place for place, _ in there], [value for _, value in there], height=height, label=name, color=colour)
    axes.set_yticks([place + 0.4 - height / 2 for place in range(len(labels))], labels, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel(unit)


def legend_above(axes):
    axes.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1), ncol=3, frameon=False)


def draw_bars(rows):
    figure = new_figure(9, 1.5 + 0.3 * len(rows))
    axes = figure.add_subplot()
    beside(axes, [row[0] for row in rows], [("weft", [row[1] for row in rows], COLOURS["weft"]),
                                           ("best peer", [row[2] for row in rows], COLOURS["peer"])], "GB/s")
    axes.vlines([row[3] for row in rows], [place - 0.2 for place in range(len(rows))], [place + 0.6 for place in range(len(rows))],
                color=COLOURS["limit"], label="as many bytes moved: stream or memcpy")
    legend_above(axes)
    return figure


def draw_sweeps(lines, caches):
    columns = min(3, len(lines))
    figure = new_figure(4.5 * columns, 3 * math.ceil(len(lines) / columns))
    for number, (workload, found) in enumerate(lines.items(), 1):
        axes = figure.add_subplot(math.ceil(len(lines) / columns), columns, number)
        for line, points in found.items():
            axes.plot([x for x, _ in points], [y for _, y in points], marker=".", label=line,
                      color=COLOURS.get(line, "#228833"), linestyle="--" if line == "limit" else "-")
        for name, size_bytes in caches:
            axes.axvline(size_bytes, color=COLOURS["cache"], linewidth=0.8, linestyle=":")
            axes.annotate(name, (size_bytes, 0.98), xycoords=("data", "axes fraction"), fontsize=7, rotation=90, va="top", ha="right")
        axes.set_xscale("log")
        axes.set_title(workload, fontsize=9)
        axes.set_xlabel("bytes a call")
        axes.set_ylabel("GB/s")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=7)
    return figure


def draw_latencies(rows):
    figure = new_figure(8, 1.5 + 0.3 * len(rows))
    axes = figure.add_subplot()
    beside(axes, [row[0] for row in rows], [("weft", [row[1] for row in rows], COLOURS["weft"]),
                                           ("best peer", [row[2] for row in rows], COLOURS["peer"])], "ns a call")
    axes.set_xscale("log")
    legend_above(axes)
    return figure


def draw_scaling(lines):
    figure = new_figure(7, 4.5)
    axes = figure.add_subplot()
    for (workload, threads), points in lines.items():
        axes.plot([x for x, _ in points], [y for _, y in points], marker=".", label=f"{workload}, {threads} threads")
    axes.axhline(1, color=COLOURS["cache"], linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlabel("elements")
    axes.set_ylabel("times as fast as on one thread")
    axes.legend(fontsize=8)
    return figure


def draw_compile_times(backends):
    rows = [(backend, *row) for backend, found in backends.items() for row in found]
    figure = new_figure(8, 1.5 + 0.3 * len(rows))
    axes = figure.add_subplot()
    places = {row[:2]: place for place, row in enumerate(rows)}
    for backend in backends:
        own = [row for row in rows if row[0] == backend]
        axes.errorbar([row[2] for row in own], [places[row[:2]] for row in own], xerr=[row[3] for row in own], fmt="o", capsize=3,
                      label=backend)
    axes.set_yticks(range(len(rows)), [row[1] for row in rows], fontsize=7)
    axes.set_xscale("log")
    axes.set_xlabel("us, median; the bar is one standard error to each side")
    axes.legend(fontsize=8)
    return figure


def draw_all(table, caches, mine, best_peer):
    """name -> figure, or None where the result has nothing for it."""
    drawings = [("bars", bars(table, mine, best_peer), draw_bars),
                ("sizes", sweeps(table, mine), lambda lines: draw_sweeps(lines, caches)),
                ("latency", latencies(table, mine, best_peer), draw_latencies),
                ("threads", scaling(table, mine), draw_scaling),
                ("compile", compile_times(table), draw_compile_times)]
    return {name: draw(found) if found else None for name, found, draw in drawings}
