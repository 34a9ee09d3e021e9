r"""LaTeX of one formula to a Formula, in passes; `parser.parse` runs them in this order.

Flat tokens are pieces of the text one behind the other; items are tokens with their content nested in them; siblings
are the items of one level: of a formula, a bracket or an argument.

On flat tokens:
 1. `tokens.tokenize`: cut the text into typed tokens; dollars, spacing, sizes and sentence punctuation go.
 2. `names.rewrite_flat_tokens`: `KE`, `Re = ...` become one letter, `<x>` and `|a>` become angle brackets.

From flat tokens to a tree, in one recursive descent:
 3. `tree.nest_tokens`: siblings and commands, with these readers:
    `leaves`: numbers, symbols with all their scripts, accents; arguments of commands.
    `indices`: superscripts that are no powers, by what stands elsewhere in the formula.
    `brackets`: brackets, bars, kets, `|_{x=0}`, matrices and cases.
    `commands`: the commands that few formulas hold; suggestions for unknown ones.
    `names.spell_name`, `names.superscript_label`: one spelling a name; `x^*` is a label, `x^2` a power.

On the whole formula, once:
 4. `calls.collect_call_evidence`: which symbols are called somewhere.
 5. `differentials.is_italic_d_differential`: whether italic `dx` is a differential in this formula.
 6. `clauses.split_formulas`: systems, alternatives, implications, conditions, lists; labels and remarks go.
 7. `clauses.complete_sides`: a blank left side for `\ge 2`; `a : b` as a quotient.

In each bracket, from the outside in (`disambiguate._emit_siblings`):
 8. `disambiguate.resolve_braces`: sets, Poisson brackets, anticommutators.
    `calls.resolve_calls`: `x(t)` is x, `f(a, b)` a value, `m(g + a)` a product.
 9. `differentials.resolve_derivatives`: `\frac{dy}{dx}`, `dy/dx`, `\partial_x f`, `dx`.
10. `roman_text.resolve_roman_texts`, with `unit_text`: units behind numbers, symbols elsewhere; prose is refused.
11. `operands.attach_operands`: arguments of functions, integrands and measures, terms of sums, targets of limits.
12. `slashes.mark_denominator_ends`: `1/2 m v^2`, `a/bc`.
13. `disambiguate._emit_item`: intervals, sets and tuples; inverse functions, logarithms; tokens of the grammar.

On the tokens of each single formula:
14. `lalr.run_parser`: the LALR(1) grammar `grammar/latex.lark`, with `parser._ExpressionBuilder` at each reduction.

Asked later, of a text or of a name that is a text: `marks`.
"""
