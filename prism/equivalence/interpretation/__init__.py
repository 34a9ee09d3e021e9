r"""Values of formulas beyond algebra under random interpretations (semantics X.3).

An interpretation gives every letter of two formulas a value: a number, a vector, a matrix, a smooth function, an array
behind an index. Under it a derivative, an integral, a sum over an array or a Bessel function is a number with an error
bound. Two equations say the same if, under several interpretations, what solves one solves the other.

`asking` says where they are asked, `decision` compares, `evaluation` and `infinite` give constructs a value.

Refused: a CAS (its simplification takes unbounded time, and an answer that it does not find is no answer).
"""

from prism.equivalence.interpretation.asking import are_regions as are_regions
from prism.equivalence.interpretation.asking import compare_regions as compare_regions
from prism.equivalence.interpretation.asking import decide_by_interpretation as decide_by_interpretation
from prism.equivalence.interpretation.asking import review_by_courses as review_by_courses
from prism.equivalence.interpretation.asking import review_by_membership as review_by_membership
