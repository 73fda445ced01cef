import numpy as np
import pytest

from ldp3.reporting.drawings import shades


def test_one_outlier_takes_no_contrast_from_the_rest() -> None:
    shade = shades(np.array([[1.0, 1.25, 2.0, 1000.0, np.nan]]), "lower")
    assert shade[0, :4] == pytest.approx([1, 0.8, 0.5, 0.001])
    assert np.isnan(shade[0, 4])
    assert shades(np.array([0.5, 1.0]), "higher") == pytest.approx([0.5, 1])


def test_what_is_tied_is_painted_as_the_best_is() -> None:
    means = np.array([1.0, 1.1, 1.2])
    assert shades(means, "lower", np.array([False, True, False])).tolist()[:2] == [1, 1]


def test_without_ratios_the_median_is_in_the_middle() -> None:
    assert shades(np.array([0.0, 1.0, 2.0]), "lower") == pytest.approx([1, 0.5, 1 / 3])
