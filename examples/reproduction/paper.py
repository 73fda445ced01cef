"""The numbers that the paper prints, and what it says about its data.

Balioglu, Khodaie, Gursoy. *LDP³: An Extensible and Multi-Threaded Toolkit for Local Differential
Privacy Protocols and Post-Processing Methods.* Tables I–III: "ℓ1 distances", ε = 1, × 10⁻³, means
of 10 repeats.
"""

from dataclasses import dataclass

EPSILON, REPEATS = 1.0, 10
COLUMNS = (
    "none", "average", "base_pos", "norm", "norm_cut", "norm_mul", "norm_sub", "power", "power_ns",
)  # fmt: skip
METHODS = COLUMNS[2:]
PROTOCOLS = ("grr", "olh", "blh", "oue", "rappor", "ss")


@dataclass(frozen=True)
class Table:
    """One of the paper's tables.

    `n` is what the paper says; for Kosarak it says nothing, and the file's population is used.
    """

    name: str
    title: str
    d: int
    n: int
    n_is_printed: bool
    text: str

    @property
    def cells(self) -> dict[tuple[str, str], float]:
        """(protocol, column) → the printed number, × 10⁻³."""
        lines = (line.split() for line in self.text.strip().splitlines())
        return {
            (protocol, column): float(number)
            for protocol, *numbers in lines
            for column, number in zip(COLUMNS, numbers, strict=True)
        }


@dataclass(frozen=True)
class File:
    """A file that the authors publish, by facts: it is not in this repository."""

    name: str
    bytes: int
    users: int
    d: int
    digest: str  # SHA-256


# github.com/alrzakh/LDPcubePlus, folder Datasets, commit d92af0b: one integer per line
PROCESSED = {
    "kosarak": File(
        "Kosarak.csv", 2_506_728, 929_669, 128,
        "765f07edafd57712f8c47c98bc1c4636e053255e7a23d54e0e978f5abc286892",
    ),
    "bms_pos": File(
        "BMS.csv", 1_541_848, 500_000, 256,
        "41e9110065def832501c5cb963cdb5335cdda5fdd02c2dfb00eaf9489698f00b",
    ),
    "adult": File(
        "Adult.csv", 126_133, 45_222, 74,
        "921066cc7c96abbad5ffc109e8a2b7dcb657940febfb0a813896619db03d1451",
    ),
}  # fmt: skip

TABLES = (
    Table(
        "kosarak",
        "Table I, Kosarak",
        d=128,
        n=929_669,
        n_is_printed=False,
        text="""
        grr     5.65 3.83 3.87 5.65 3.53 3.98 3.08 3.66 3.02
        olh     1.56 1.44 1.33 1.56 1.47 1.39 1.27 1.59 1.49
        blh     1.84 1.65 1.48 1.83 1.71 1.58 1.39 1.84 1.70
        oue     1.48 1.35 1.23 1.47 1.35 1.27 1.19 1.50 1.46
        rappor  1.66 1.51 1.37 1.65 1.52 1.47 1.30 1.71 1.61
        ss      1.60 1.39 1.34 1.60 1.49 1.43 1.28 1.32 1.21
        """,
    ),
    Table(
        "bms_pos",
        "Table II, BMS-POS",
        d=256,
        n=515_596,
        n_is_printed=True,
        text="""
        grr    10.79 5.94 6.74 10.79 5.15 4.01 4.32 6.36 4.20
        olh     2.14 2.00 1.76  2.14 1.98 1.67 1.66 2.52 2.26
        blh     2.45 2.24 1.95  2.45 2.19 1.83 1.84 2.91 2.53
        oue     2.17 2.03 1.78  2.17 1.98 1.71 1.71 2.53 2.30
        rappor  2.21 2.02 1.81  2.21 2.01 1.73 1.73 2.44 2.23
        ss      2.08 1.79 1.70  2.08 1.92 1.62 1.61 1.74 1.57
        """,
    ),
    Table(
        "porto",
        "Table III, Porto",
        d=225,
        n=1_620_157,
        n_is_printed=True,
        text="""
        grr     5.66 3.97 3.84 5.66 3.45 3.19 3.03 4.33 4.33
        olh     1.17 1.06 0.93 1.17 0.93 0.94 0.87 1.27 1.27
        blh     1.34 1.19 1.05 1.34 1.04 1.06 0.97 1.45 1.45
        oue     1.21 1.09 0.96 1.21 0.97 0.97 0.90 1.33 1.33
        rappor  1.27 1.14 1.01 1.27 1.01 1.01 0.94 1.39 1.39
        ss      1.18 0.94 0.94 1.18 0.94 0.95 0.88 0.86 0.86
        """,
    ),
)
