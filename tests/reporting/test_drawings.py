import numpy as np
import pytest

from ldp3.reporting.drawings import shades


def test_one_outlier_takes_no_contrast_from_the_rest() -> None:
    means = np.array([[1.0, 1.1, 1.2, 1.3, 1000.0, np.nan]])
    shade = shades(means, "lower")
    assert shade[0, 0] == 1
    assert shade[0, 2] == pytest.approx(0.5)  # the median
    assert 0 < shade[0, 4] < 0.05
    assert np.isnan(shade[0, 5])
    assert shades(-means, "higher")[0, 0] == 1
