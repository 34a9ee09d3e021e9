"""From the text of a solution to located formulas; `text.extract` is the pipeline, the rest its passes.

`messages` joins what a solution may be into one text, `unread` masks what is not read, `blocks` pairs delimiters,
`undelimited` and the modules of `plain` notation find formulas without any, `items` and `pieces` cut what was found.
"""
