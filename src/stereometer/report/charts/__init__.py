"""Charts as Vega-Lite specifications, in the colours of report.css: light, dark and print."""
