from ldp3.reporting import palette


def test_lines_repeat_no_style_before_they_must() -> None:
    names = [str(i) for i in range(140)]
    styles = zip(palette.colours(names), palette.cycled(range(7), 140),
                 palette.cycled(palette.DASHES, 140), strict=True)  # fmt: skip
    assert len(set(styles)) == 140
