"""The scenarios' catalogue in docs/scenarios.md, and the plots in which their symptoms emerge.

`python -m scenario_plots` (`make scenario-plots`) records every scenario, draws the plots and stores the result of each in catalogue.json;
`python -m scenario_plots.table` writes the table from that (`make generate`), or compares it with `--check`.
"""
