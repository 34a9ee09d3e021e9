"""Files in which people have solutions, by their type: each becomes the text that `prism.latex.extract` reads.

`kinds` lists the types by the endings of their names, `reading` reads one file. A reader gives a `document.Document`:
the text, what of the file is not in it, and where in the file its pieces stand. What is recognised and not read is
named, so that nobody is told "no formula" of a page full of them.

Nothing is executed, fetched or followed out of the folder of the file; sizes, nesting and archives are bounded.

Refused: pandoc, where it is found on a machine, for then a grade would depend on the machine; the text layer of a PDF
file, for what is left of a formula in it is another formula, and that one would be graded.
"""
