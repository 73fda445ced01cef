"""The charts of the page as Vega-Lite specifications; the page's scripts put the data in.

`{metric}` stands for the metric that is shown. Colours of text and lines are the page's own (CSS
variables), so a chart follows light, dark and paper as the page does.
"""
