"""The value of a letter under an interpretation: bound, solved for, or drawn; of a place, and of a component."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count

from flint import acb

from prism.algebra.expr import Expr, ops_of, symbol, symbols
from prism.algebra.symbols import labels_of, replace_index, spelled, symbol_of
from prism.budget import charge_steps
from prism.engine.lowering import conjugation_base
from prism.equivalence.interpretation import functions as named
from prism.equivalence.interpretation.draws import DIMENSIONS, Draw
from prism.equivalence.interpretation.names import (
    UNIT_MATRICES,
    compared_labels,
    is_greek,
    letters_of,
    order_letter,
    placed_letters,
)
from prism.equivalence.interpretation.quantum import operators
from prism.equivalence.interpretation.signature import (
    COORDINATES,
    PLACE,
    Role,
    Signature,
    base_of_transposed,
    is_column,
)
from prism.equivalence.interpretation.values import (
    Dual,
    Scalar,
    Table,
    Unvalued,
    Value,
    add,
    column,
    dot,
    identity,
    multiply,
    plain,
    scalar,
    slope_of,
    transpose,
    whole_number,
)

_CONSTANTS = frozenset(("c", "k", "R", "G", "g", r"\hbar", "k_B", "k_{B}", "N_A", r"\gamma", r"\omega"))
_DIRECTIONS = (r"\hat{n}", r"\hat{r}", r"\hat{\Omega}")
_PRIVATE = 0xE000  # of a number of two digits in a subscript of several indices, as one character
_WITHOUT_HIDDEN_INDICES = frozenset(("sym", "num", "neg", "add", "sub", "mul", "div"))  # but in names of letters
_COMPONENT = 2  # steps charged for a component of a tensor, beside those of its letter
_new_bound = count(1).__next__
_MOST_FUNCTIONS = 4  # that a table of operators varies by


@lru_cache(4096)
def _names_in(node: Expr) -> str | None:
    """Return the names in an expression that has indices in names alone, apart by blanks; None for any other."""
    return " ".join(symbols(node)) if ops_of(node) <= _WITHOUT_HIDDEN_INDICES else None


@dataclass(slots=True, eq=False)  # not frozen, which would take twice as long to make at each point of an integral
class Scope:
    """What letters mean inside a sum, an integral or a derivative; it is not changed.

    Attributes:
        values: of bound variables, by name; of derivatives too, where a formula differentiates by one.
        indices: whole numbers behind letters of indices.
        slopes: the infinitesimal by which all varying symbols vary, under a differential; 0 outside.
        place: the indices with their numbers, as a key.
        bound: a number of the values but for those of indices, as a key; 0 at a place, as of an integral, which has
            hardly anything twice.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    indices: Mapping[str, int] = field(default_factory=dict)
    slopes: int = 0
    place: frozenset[tuple[str, int]] = frozenset()
    bound: int = field(default_factory=_new_bound)

    def place_of(self, node: Expr) -> frozenset[tuple[str, int]]:
        """Return the indices, with their numbers, that the value of an expression depends on, or may depend on."""
        written = _names_in(node)
        return self.place if written is None else frozenset([index for index in self.place if index[0] in written])

    def with_value(self, name: str, value: Value) -> Scope:
        """Return the scope in which one more letter has a value."""
        bound = _new_bound() if isinstance(value, Dual) else 0
        return Scope({**self.values, name: value}, self.indices, self.slopes, self.place, bound)

    def with_index(self, letter: str, value: int) -> Scope:
        """Return the scope in which a letter stands for a whole number, as itself and in subscripts."""
        indices = {**self.indices, letter: value}
        return Scope({**self.values, letter: acb(value)}, indices, self.slopes, frozenset(indices.items()), self.bound)


class Letters:
    """Gives letters their values under one interpretation; `Evaluator` adds what is made of them.

    Attributes:
        draw: the interpretation.
        signature: what the letters are.
        met: names that were looked up for the value at hand: of letters, of what was solved for, of bound variables.
        kept: values below indices, as `draw.values`, that hold for these bound variables alone.
    """

    def __init__(self, draw: Draw) -> None:
        """Keep the interpretation."""
        self.draw = draw
        self.signature: Signature = draw.signature
        self.met: set[str] = set()
        self.kept: dict[tuple[Expr, frozenset[tuple[str, int]], int], tuple[Value, set[str]]] = {}
        self._tags = 0

    def value(self, node: Expr, scope: Scope) -> Value:
        """Return the value of an expression; see `Evaluator`."""
        raise NotImplementedError

    def number(self, node: Expr, scope: Scope) -> Scalar:
        """Return the value of an expression that is a number."""
        return scalar(self.value(node, scope))

    def depends(self, node: Expr, name: str) -> bool:
        """Return True if the value of an expression may depend on a bound variable."""
        inside = symbols(node)
        inside |= {conjugation_base(each) for each in inside} | {base_of_transposed(each) for each in inside}
        inside |= set(map(_without_bar, inside))
        if name in inside or any(name in self.signature.functions.get(each, ()) for each in inside):
            return True
        if name in (r"\theta", r"\phi") and not inside.isdisjoint(_DIRECTIONS):
            return True
        return name in self.coordinates() and (
            not inside.isdisjoint((r"\vec{r}", r"\vec{x}", *self.signature.fields))
            or (self.signature.has_nabla and "r" in inside)
            or any(symbol_of(each).is_hat for each in inside)
        )

    def new_tag(self) -> int:
        """Return the tag of a new infinitesimal, within all earlier ones that are still in use."""
        self._tags += 1
        return self._tags

    def _is_bound(self, name: str, scope: Scope) -> bool:
        """Return True for a bound variable, and note that the value at hand depends on whether it is one."""
        self.met.add(name)
        return name in scope.values

    # Letters. -----------------------------------------------------------------------------------------------------

    def symbol(self, node: Expr, scope: Scope) -> Value:
        """Return the value of a letter: bound, solved for, or drawn."""
        name = node.name
        self.met.add(name)
        notation = self.signature.notation
        is_unit = notation.is_complex and name == notation.unit and name in self.signature.tensors
        if name in scope.values and not is_unit:
            return scope.values[name]
        if notation.is_complex and name == notation.unit:
            return acb(0, 1)
        role = None if scope.indices else self.signature.roles.get(name)
        if role is not None and role.name not in self.draw.fixed:
            return self._in_role(role, scope)
        if self.signature.space is not None and (known := self._quantum(name, scope)) is not None:
            return known
        if (indexed := self._indexed(name, scope)) is not None:
            return indexed
        if (kronecker := self._kronecker(name, scope)) is not None:
            return kronecker
        if name in _DIRECTIONS and self._is_bound("#direction", scope):
            return direction(scalar(scope.values[r"\theta"]), scalar(scope.values[r"\phi"]))
        has_several = len(letters_of(name)) > 1
        for index, number in scope.indices.items():
            name = replace_index(name, index, chr(_PRIVATE + number) if has_several and number > 9 else str(number))
        read = symbol_of(name)
        are_numbers = all(each.isdigit() or each >= chr(_PRIVATE) for each in read.sub)
        is_distance = read.head in ("r", "d", "R") and are_numbers
        if len(read.sub) == 2 and (is_distance or (self.draw.is_usual and has_several)):
            name = spelled(read.head, "".join(sorted(read.sub)))  # a distance is that from either end
        self.met.add(name)
        if name in self.draw.fixed:
            fixed = self.draw.fixed[name]
            return fixed if isinstance(fixed, Table) else self._varied(name, fixed, scope)
        if base := base_of_transposed(name):
            return self._transposed(base, scope, is_adjoint="dagger" in name)
        if notation.is_complex and (base := _without_bar(name)):
            return conjugate(self.symbol(Expr("sym", name=base), scope))
        if (base := conjugation_base(name)) != name and (base in notation.complexes or symbol_of(name).sup == "*"):
            return conjugate(self.symbol(Expr("sym", name=base), scope))
        has_units = bool(self.signature.matrices or self.signature.operators) or (
            self.signature.space is not None and self.signature.space.kind == "pauli"
        )
        if name in UNIT_MATRICES and has_units:
            return identity(self._matrix_size())
        return self._drawn(name, node.name, scope)

    def _quantum(self, name: str, scope: Scope) -> Value | None:
        """Return an operator with rules of its own, or the number of a state; None for another letter."""
        space = self.signature.space
        assert space is not None
        if name in space.labels and space.kind == "ladder":
            return acb(space.label(name, self.draw.number))
        if name not in space.names:
            return None

        def number(letter: str) -> acb:
            """Return the value of the quantum of action, a mass or a frequency; 1 for these two without a letter."""
            if letter == operators.ACTION:
                return self.draw.number_of(letter, "positive")
            return plain(scalar(self.symbol(symbol(letter), scope))) if letter else acb(1)

        return operators.value(space, self.draw.number, name, scope.indices, number)

    def _drawn(self, name: str, written: str, scope: Scope) -> Value:
        """Return the value of a letter that is drawn.

        Args:
            name: with its indices put in; `written`: as the formula has it.
        """
        signature, notation = self.signature, self.signature.notation
        if written in signature.operators or name in signature.operators:
            size = self.draw.rows()
            return self._table(name, written, size, size, scope, is_complex=True)
        if written in signature.states:
            state = self._table(name, written, self.draw.rows(), 1, scope, is_complex=True)
            return state if signature.space is None else signature.space.within(state, self.draw.number)
        if (entry := self._entry(name, scope)) is not None:
            return entry
        if written in signature.matrices or name in signature.matrices:
            size = self._matrix_size()
            columns = 1 if is_column(name) else size
            size, columns = signature.shapes.get(name, (size, columns))
            return self._table(name, written, size, columns, scope, is_complex=False)
        if notation.lengths and (vector := dict(notation.lengths).get(name)) is not None:
            return self._length(vector, scope)
        if signature.has_nabla and (place := self._place(name, scope)) is not None:
            if name == written and name in self.coordinates() and not (scope.indices or signature.matrices):
                signature.roles[name] = Role(name, (), _kind_of_coordinate(name), is_complex=False, is_coordinate=True)
            return place
        if symbol_of(written).is_vector or written in notation.vectors or name in notation.vectors:
            return self._vector(name, written, scope)
        for vector, names in notation.components:
            if name in names:
                value = self.symbol(Expr("sym", name=vector), scope)
                assert isinstance(value, Table)
                return value.entries[names.index(name)]
        usual = notation.is_complex and symbol_of(name).head in ("z", "w", r"\psi", r"\Psi", "Z")
        is_complex = name in notation.complexes or written in notation.complexes or usual
        kind = signature.declared.get(name, "complex" if is_complex else "positive")
        if name in signature.whole:
            kind = "integer"
        elif name in signature.signed and kind == "positive":
            kind = "real"
        if kind not in ("positive", "real", "angle", "integer", "complex"):
            kind = "positive"
        role = Role(name, self._variables(written), kind, is_complex)
        if not (scope.indices or signature.matrices or name in _DIRECTIONS or compared_labels(name)):
            signature.roles[written] = role
        return self._in_role(role, scope)

    def _in_role(self, role: Role, scope: Scope) -> Scalar:
        """Return the value of a letter that is drawn, as a number or as a function of its variables."""
        name = role.name
        self.met.add(name)
        if role.variables:
            return self._function_value(name, role.variables, scope, is_complex=role.is_complex)
        drawn = self.draw.number_of(name, role.kind)
        if role.is_coordinate:
            return drawn
        read = symbol_of(name) if self.signature.series else None
        if read is not None and read.head in self.signature.series and read.sub.isdigit():
            drawn = drawn / (acb(int(read.sub) + 1).gamma() ** 2)
        return self._varied(name, drawn, scope)

    def _entry(self, name: str, scope: Scope) -> Value | None:
        r"""Return the entry of a matrix or the component of a vector, `A_{12}` beside `\vec{A}`; None for others."""
        read = symbol_of(name)
        base, labels = read.base, labels_of(read.sub)
        if not read.is_light or read.primes or read.sup or not "".join(labels).isdigit():
            return None
        matrices = self.signature.matrices
        bold = rf"\vec{{{base}}}"
        whole = bold if bold in matrices or bold in self.signature.notation.vectors else base
        if whole not in matrices and whole != bold:
            return None
        table = self.symbol(symbol(whole), scope)
        places = [int(label) - 1 for label in labels]
        if not isinstance(table, Table) or len(places) != (1 if table.columns == 1 else 2):
            return None
        row, col = places[0], places[1] if len(places) > 1 else 0
        return table.at(row, col) if 0 <= row < table.rows and 0 <= col < table.columns else None

    def _table(self, name: str, written: str, rows: int, columns: int, scope: Scope, *, is_complex: bool) -> Table:
        """Return a table: of numbers, or of functions if its letter varies."""
        variables = self._variables(written)
        if not variables:
            return self.draw.table(name, rows, columns, "complex" if is_complex else "real")
        if rows * columns <= _MOST_FUNCTIONS:
            entries = tuple(
                self._function_value(name, variables, scope, is_complex=is_complex, part=k + 1)
                for k in range(rows * columns)
            )
            return Table(rows, columns, entries)
        total: Value = acb(0)
        for part in range(1, _MOST_FUNCTIONS + 1):  # a table for each of some functions, whose slopes are independent
            constant = self.draw.table(f"{name}#{part}", rows, columns, "complex" if is_complex else "real")
            value = self._function_value(name, variables, scope, is_complex=False, part=part)
            scaled = multiply(value, constant)
            total = scaled if part == 1 else add(total, scaled)
        assert isinstance(total, Table)
        return total

    def _varied(self, name: str, drawn: Scalar, scope: Scope) -> Scalar:
        """Return a number with its own differential, within a differential."""
        is_constant = (name in _CONSTANTS or symbol_of(name).sub == "0") and name not in self.signature.varied
        if not scope.slopes or is_constant:
            return drawn
        self.met.add(f"d{name}")
        change = self.draw.fixed.get(f"d{name}", self.draw.number_of(f"d{name}", "real"))
        return Dual(drawn, scalar(change), scope.slopes)

    def _varied_table(self, name: str, drawn: Table, scope: Scope) -> Table:
        """Return a table with its own differential, within a differential."""
        if not scope.slopes or (name in _CONSTANTS and name not in self.signature.varied):
            return drawn
        change = self.draw.table(f"d{name}", drawn.rows, drawn.columns, "real")
        pairs = zip(drawn.entries, change.entries, strict=True)
        entries = tuple(Dual(entry, each, scope.slopes) for entry, each in pairs)
        return Table(drawn.rows, drawn.columns, entries)

    def _variables(self, written: str) -> tuple[str, ...]:
        """Return the variables of a letter: its own, and the place for a field."""
        signature = self.signature
        own = tuple(
            each for each in signature.functions.get(written, ()) if each != written and each not in signature.matrices
        )
        if written in signature.fields:
            return tuple(sorted({*own, *self.coordinates()}))
        return own

    def _function_value(
        self, name: str, variables: tuple[str, ...], scope: Scope, *, is_complex: bool, part: int = 0
    ) -> Scalar:
        """Return the value of a function at its own variables.

        Raises Unvalued where letters are functions of each other.
        """
        if self._is_bound(name, scope):
            return scalar(scope.values[name])
        guarded = scope.with_value("#" + name, acb(0))
        if self._is_bound("#" + name, scope):
            raise Unvalued("letters that are functions of each other")
        point: list[Scalar] = []
        for variable in variables:
            if variable == "#place":
                point += [self._coordinate(k, scope) for k in range(4)]
            else:
                point.append(self._variable(variable, guarded))
        value = self.draw.value_of(f"{name}#{part}" if part else name, point, is_complex=is_complex)
        if name in self.draw.shifts:
            other = self.draw.value_of(name + "#shift", point, is_complex=is_complex)
            value = value + self.draw.shifts[name] * other
        return value

    def _coordinate(self, k: int, scope: Scope) -> Scalar:
        """Return a coordinate `x_k` of the place of fields with indices, with its own differential within one."""
        name = f"x_{k}"
        if self._is_bound(name, scope):
            return scalar(scope.values[name])
        return self._varied(name, self.draw.number_of(name, "real"), scope)

    def _variable(self, variable: str, scope: Scope) -> Scalar:
        """Return the value of a variable of a function: a letter, or a derivative; raises Unvalued for a vector."""
        if self._is_bound(variable, scope):
            return scalar(scope.values[variable])
        if variable in self.signature.keys:
            return scalar(self.value(self.signature.keys[variable], scope))
        if "[" not in variable or variable[0] == "\\":
            found = self.symbol(Expr("sym", name=variable), scope)
            if isinstance(found, Table):
                raise Unvalued("a function of a vector")
            return found
        return self.draw.number_of(variable, "real")

    def _matrix_size(self) -> int:
        """Return how many rows matrices have in this draw."""
        if self.signature.operators or self.signature.space is not None:
            return self.draw.rows()
        return DIMENSIONS[self.draw.number % 4]

    def _transposed(self, base: str, scope: Scope, *, is_adjoint: bool) -> Value:
        """Return the transposed or adjoint of a letter."""
        value = self.symbol(Expr("sym", name=base), scope)
        value = transpose(value) if isinstance(value, Table) else value
        return conjugate(value) if is_adjoint else value

    def _length(self, vector: str, scope: Scope) -> Scalar:
        """Return the length of a vector."""
        value = self.symbol(Expr("sym", name=vector), scope)
        return named.call("sqrt", dot(value, value))

    def _vector(self, name: str, written: str, scope: Scope) -> Value:
        """Return the value of a vector: a unit vector, a field, a function of a variable, or three numbers."""
        notation = self.signature.notation
        basis, directions = dict(notation.basis), dict(notation.directions)
        if name in basis:
            return column(*(acb(int(k == basis[name])) for k in range(notation.dimension)))
        if name in directions:
            value = self.symbol(Expr("sym", name=directions[name]), scope)
            assert isinstance(value, Table)
            length = named.call("sqrt", dot(value, value))
            return value.each(lambda entry: entry / length)
        variables = self._variables(written)
        is_complex = written in notation.complexes
        if variables:
            parts = [
                self._function_value(name, variables, scope, is_complex=is_complex, part=k + 1)
                for k in range(notation.dimension)
            ]
            return column(*parts)
        drawn = self._varied_table(
            name, self.draw.table(name, notation.dimension, 1, "complex" if is_complex else "real"), scope
        )
        if symbol_of(name).is_hat:
            length = named.call("sqrt", dot(drawn, drawn))
            return drawn.each(lambda entry: entry / length)
        return drawn

    # Places and fields. ---------------------------------------------------------------------------------------------

    def coordinates(self) -> tuple[str, str, str]:
        """Return the names of the coordinates of a place."""
        return COORDINATES[self.signature.system]

    def place(self, scope: Scope) -> Table:
        """Return the place as a vector in Cartesian components."""
        a, b, c = (self._raw_coordinate(name, scope) for name in self.coordinates())
        if self.signature.system == "cartesian":
            return column(a, b, c)
        sine, cosine = named.call("sin", b), named.call("cos", b)
        if self.signature.system == "cylindrical":
            return column(a * cosine, a * sine, c)
        return column(a * sine * named.call("cos", c), a * sine * named.call("sin", c), a * cosine)

    def _raw_coordinate(self, name: str, scope: Scope) -> Scalar:
        """Return the value of a coordinate."""
        if self._is_bound(name, scope):
            return scalar(scope.values[name])
        return self.draw.number_of(name, _kind_of_coordinate(name))

    def _place(self, name: str, scope: Scope) -> Value | None:
        r"""Return the value of a letter of the place or a part of it, `\vec r`, `r`, `\hat\theta`; else None."""
        if name in self.coordinates():
            return self._raw_coordinate(name, scope)
        if name in (r"\vec{r}", r"\vec{x}"):
            return self.place(scope)
        if name == "r" and self.signature.system == "cartesian" and "r" not in self.signature.functions:
            place = self.place(scope)
            return named.call("sqrt", dot(place, place))
        read = symbol_of(name)
        if read.is_hat and name == read.letter and read.base in (*self.coordinates(), "r"):
            return self.unit_vector(read.base, scope)
        return None

    def unit_vector(self, name: str, scope: Scope) -> Table:
        """Return the unit vector along a coordinate."""
        if name not in self.coordinates():  # r in Cartesian coordinates
            place = self.place(scope)
            length = named.call("sqrt", dot(place, place))
            return place.each(lambda entry: entry / length)
        tangent = self.along(name, scope, self.place)
        assert isinstance(tangent, Table)
        length = named.call("sqrt", dot(tangent, tangent))
        return tangent.each(lambda entry: entry / length)

    def along(self, name: str, scope: Scope, value: Callable[[Scope], Value]) -> Value:
        """Return the derivative of a value by a coordinate."""
        tag = self.new_tag()
        start = self._raw_coordinate(name, scope)
        found = value(scope.with_value(name, Dual(start, acb(1), tag)))
        return found.each(lambda e: slope_of(e, tag)) if isinstance(found, Table) else slope_of(found, tag)

    def gradient(self, value: Callable[[Scope], Value], scope: Scope) -> list[Value]:
        """Return the derivatives of a value by x, y and z."""
        names = self.coordinates()
        slopes = [self.along(name, scope, value) for name in names]
        if self.signature.system == "cartesian":
            return slopes
        tangents = []
        for name in names:
            tangent = self.along(name, scope, self.place)
            assert isinstance(tangent, Table)
            size = dot(tangent, tangent)
            tangents.append(tangent.each(lambda entry, size=size: entry / size))  # type: ignore[misc]
        found = []
        for k in range(3):
            total: Value = multiply(tangents[0].entries[k], slopes[0])
            for tangent, slope in zip(tangents[1:], slopes[1:], strict=True):
                total = add(total, multiply(tangent.entries[k], slope))
            found.append(total)
        return found

    def slope_along(self, k: int, value: Callable[[Scope], Value], scope: Scope) -> Value:
        """Return the derivative of a value by x, y or z, without those by the others where they are not needed."""
        if self.signature.system == "cartesian":
            return self.along(self.coordinates()[k], scope, value)
        return self.gradient(value, scope)[k]

    # Indices. -------------------------------------------------------------------------------------------------------

    def _indexed(self, name: str, scope: Scope) -> Value | None:
        r"""Return the component of a tensor, `\delta_{ij}` or `F^{\mu\nu}`; None for another letter."""
        letters = letters_of(name)
        base = symbol_of(name).head
        if len(letters) == 2 and base == r"\delta" and scope.indices.keys() >= set(letters):
            return acb(int(scope.indices[letters[0]] == scope.indices[letters[1]]))
        if not letters or not self.signature.tensors.issuperset(letters) or not scope.indices.keys() >= set(letters):
            return None
        charge_steps(_COMPONENT)
        if any(map(str.isdigit, symbol_of(name).sub + symbol_of(name).sup)):
            return None  # `A_{1i}` is an entry when i is put in
        values = [scope.indices[letter] for letter in letters]
        if base in (r"\epsilon", r"\varepsilon") and len(values) in (3, 4):
            return acb(_levi_civita(values))
        if base in (r"\epsilon", r"\varepsilon") and len(values) > 2:
            return None
        if "," in name:
            return self._derivative_behind_comma(name, scope)
        if rf"\vec{{{base}}}" in self.signature.notation.vectors and len(values) == 1:
            return self._entry(f"{base}_{values[0]}", scope)
        varies = any(symbol_of(key).head == base != key for key in self.signature.functions)
        if base in ("g", r"\eta") and len(values) == 2 and varies:
            values = sorted(values)
        raised = tuple(is_above for _, is_above in placed_letters(name))
        if base in ("g", r"\eta") and len(values) == 2 and not varies:
            is_mixed = len(set(raised)) > 1
            return acb((1 if values[0] == 0 or is_mixed else -1) if values[0] == values[1] else 0)
        sign = 1
        for letter, k, is_above in zip(letters, values, raised, strict=True):
            if is_greek(letter) and is_above and k:
                sign = -sign
        if base == r"\Gamma" and len(values) == 3:
            values = _of_connection(values, raised)
        if base == "F" and len(values) == 2 and all(map(is_greek, letters)):
            sign *= (values[0] < values[1]) - (values[0] > values[1])  # the field tensor
            values = sorted(values)
        if base == "x" and len(values) == 1:
            found = self._coordinate(values[0], scope)
            return found if sign > 0 else -found
        key = f"{base}_{{{','.join(map(str, values))}}}"
        self.met.add(key)
        if key in self.draw.fixed:
            return multiply(acb(sign), self.draw.fixed[key])
        value: Scalar = self.draw.number_of(key, "real")
        variables = self.signature.tensor_variables.get(base, ())
        if variables:
            point = tuple(
                scalar(each)
                for variable in variables
                for each in (
                    [self._coordinate(k, scope) for k in range(4)]
                    if variable == PLACE
                    else [self._variable(variable, scope)]
                )
            )
            value = self.draw.value_of(key, point, is_complex=False)
        return value * acb(sign)

    def _derivative_behind_comma(self, name: str, scope: Scope) -> Value:
        """Return `u_{i,j}`, the derivative of `u_i` by `x_j`; raises Unvalued for other indices."""
        read = symbol_of(name)
        before, *behind = read.sub.split(",")
        if len(behind) != 1 or read.sup:
            raise Unvalued("a derivative behind a comma")
        tensor = symbol(f"{read.head}_{{{before}}}")
        return self.value(Expr("partial", (tensor, symbol(behind[0])), "1"), scope)

    def _kronecker(self, name: str, scope: Scope) -> Value | None:
        r"""Return `\delta_{mn}` of whole numbers; None for another letter."""
        orders = [order for label in compared_labels(name) if (order := order_letter(label)) is not None]
        labels = frozenset(self.signature.space.labels if self.signature.space is not None else ())
        known = self.signature.whole | scope.values.keys() | labels
        if len(orders) != 2 or any(letter not in known for letter, _ in orders):
            return None
        one, two = (self._whole(letter, scope) + shift for letter, shift in orders)
        return acb(int(one == two))

    def _whole(self, letter: str, scope: Scope) -> int:
        """Return the whole number of an index."""
        space = self.signature.space
        if space is not None and letter in space.labels and letter not in scope.indices:
            return space.label(letter, self.draw.number)
        return whole_number(scalar(self.symbol(symbol(letter), scope)))


def _kind_of_coordinate(name: str) -> str:
    """Return the kind of number that a coordinate of the place is."""
    return "angle" if name in (r"\theta", r"\phi") else "positive"


def _without_bar(name: str) -> str:
    r"""Return `z_1` for `\bar{z}_1`; empty for a letter without a bar or an index."""
    read = symbol_of(name)
    return read.unstyled if read.style in ("bar", "overline") and read.sub else ""


def _of_connection(values: list[int], raised: tuple[bool, ...]) -> list[int]:
    """Return the indices of a connection without torsion: the upper one first, the lower ones in order."""
    if sum(raised) != 1:
        return values
    above = raised.index(True)
    return [values[above], *sorted(values[:above] + values[above + 1 :])]


def _levi_civita(values: list[int]) -> int:
    """Return the sign of a permutation; 0 if two values are the same."""
    sign = 1
    for j in range(len(values)):
        for k in range(j):
            sign *= (values[j] > values[k]) - (values[j] < values[k])
    return sign


def direction(theta: Scalar, phi: Scalar) -> Table:
    """Return the unit vector of two spherical angles."""
    sine = named.call("sin", theta)
    return column(sine * named.call("cos", phi), sine * named.call("sin", phi), named.call("cos", theta))


def conjugate(x: Value) -> Value:
    """Return the complex conjugate."""
    if isinstance(x, Table):
        return x.each(lambda entry: scalar(conjugate(entry)))
    if isinstance(x, Dual):
        return Dual(scalar(conjugate(x.value)), scalar(conjugate(x.slope)), x.tag)
    return x.conjugate()
