"""Vega-Lite specifications as plain data. Colours are the custom properties of report.css, so that a chart follows light, dark and print."""
