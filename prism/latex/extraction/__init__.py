"""From the text of a solution to located formulas: `pipeline.extract` runs the passes, in this order.

`solution_input` joins messages or steps into one text and cuts a long one; `masking` blanks what is not read,
with `hidden` for invisible ink; `blocks` pairs delimiters; `undelimited` and the `plain_*` modules find formulas
without delimiters; `items` and `pieces` cut blocks into formulas; `retractions` finds formulas that the text denies.
"""
