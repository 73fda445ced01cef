"""The docs' figures of speed, from `results.json`."""

from pathlib import Path
from typing import Any

COLOURS = {  # Okabe and Ito: told apart by everybody
    "grr": "#000000", "rappor": "#E69F00", "oue": "#56B4E9",
    "blh": "#009E73", "olh": "#0072B2", "ss": "#D55E00",
}  # fmt: skip


def draw(results: dict[str, Any], folder: Path) -> None:
    """Every figure whose section was measured."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "ldp3"
    folder.mkdir(parents=True, exist_ok=True)
    if results.get("users"):
        _peers(results["users"], folder / "speed.svg")
    if results.get("growth"):
        _growth(results["growth"], folder / "growth.svg")
    if results.get("oracles"):
        _frontier(results["oracles"], folder / "oracles.svg")


def _peers(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib.pyplot as plt

    rows = [row for row in rows if row.get("peers_ns")]
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    libraries = ("multi-freq-ldpy", "pure-ldp", "LDP³")
    for i, library in enumerate(libraries):
        times = [
            row["ours_ns"] if library == "LDP³" else row["peers_ns"].get(library, float("nan"))
            for row in rows
        ]
        places = [place + 0.27 * (i - 1) for place in range(len(rows))]
        colour = ("#999999", "#E69F00", "#0072B2")[i]
        axes.bar(places, times, width=0.25, color=colour, label=library)
    for place, row in enumerate(rows):
        axes.annotate(
            f"{row['ratio']:,.0f} ×", (place, max(row["peers_ns"].values())), (0, 3),
            textcoords="offset points", ha="center", fontsize=8,
        )  # fmt: skip
    axes.set_yscale("log")
    axes.set_xticks(range(len(rows)), [row["protocol"].upper() for row in rows])
    axes.set_ylabel("nanoseconds per user")
    axes.set_title("Perturb and count one user, d = 128, ε = 1, one core", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


def _growth(rows: list[dict[str, Any]], path: Path) -> None:
    import matplotlib.pyplot as plt

    rows = [row for row in rows if "failed" not in row]
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    for name, colour in COLOURS.items():
        mine = [row for row in rows if row["protocol"] == name]
        by_n = sorted((row["n"], row["seconds"]) for row in mine if row["d"] == 128)
        by_d = sorted(
            (row["d"], row["seconds"] / row["n"] * 1e9) for row in mine if row["n"] == 65_536
        )
        left.plot(*zip(*by_n, strict=True), "o-", color=colour, label=name.upper(), markersize=3)
        right.plot(*zip(*by_d, strict=True), "o-", color=colour, label=name.upper(), markersize=3)
    left.set(xscale="log", yscale="log", xlabel="users n (d = 128)", ylabel="seconds")
    right.set(xscale="log", yscale="log", xlabel="domain size d", ylabel="nanoseconds per user")
    left.legend(frameon=False, fontsize=7)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})


def _frontier(results: list[dict[str, Any]], path: Path) -> None:
    """Noise against bits and against the server's time: what nothing beats in both is joined."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, len(results), figsize=(13, 6), layout="constrained")
    for column, result in enumerate(results):
        rows = [row for row in result["rows"] if "server" in row]
        for axes, cost in zip(panels[:, column], ("bits", "server"), strict=True):
            points = [
                (row["bits"][1] if cost == "bits" else row["server"], row["noise"][1], row)
                for row in rows
            ]
            best = [p for p in points if not any(_beats(other, p) for other in points)]
            best.sort(key=lambda p: p[0])
            axes.step([p[0] for p in best], [p[1] for p in best], where="post", color="#D55E00")
            least = min(p[1] for p in points)
            shown = sorted((p for p in points if p[1] < 4 * least), key=lambda p: p[:2])
            for place, (x, y, row) in enumerate(shown):  # names at changing heights, to be read
                colour = "#999999" if row["instead"] else "#0072B2"
                axes.plot(x, y, "o", color=colour, markersize=4)
                axes.annotate(
                    row["protocol"], (x, y), (2, 4 + 9 * (place % 4)), textcoords="offset points",
                    fontsize=7, color=colour,
                )  # fmt: skip
            axes.set(xscale="log", ylim=(0.9 * least, 3 * least))
            axes.spines[["top", "right"]].set_visible(False)
            axes.set_xlabel(
                "bits per report" if cost == "bits" else "seconds of the server, 10⁶ users"
            )
        panels[0, column].set_title(f"d = {result['d']:,}, ε = 1", fontsize=10)
    for axes in panels[:, 0]:
        axes.set_ylabel("noise: n · variance")
    figure.savefig(path, metadata={"Date": None})


def _beats(one: tuple[float, float, Any], other: tuple[float, float, Any]) -> bool:
    return one[0] <= other[0] and one[1] <= other[1] and one[:2] != other[:2]
