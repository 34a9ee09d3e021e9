"""Many formulas end to end in a few arrays, and the loops over them: compiled by numba, and by a C compiler.

The loops call the kernels of `prism.engine.kernels` directly, so what they take is what the kernels take. Their C twins
stand in `core.c`, which gets every opcode, flag and constant from `prism.engine.kernels.source`.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from prism.engine.kernels import source
from prism.engine.tape import Tape
from prism.engine.zero_set import CODES, DRAWS_PER_POINT, ORDINARY, Sampling, draws

C_SOURCE = Path(__file__).with_name("core.c")
C_FLAGS = ("-O2", "-std=c11", "-ffp-contract=off", "-shared", "-fPIC")
WANT = 16  # points of a formula: what `prism.equivalent` asks for with up to ten variables
N_DRAW = WANT * DRAWS_PER_POINT
ROOM = 2 * N_DRAW
BUDGET = 300_000  # evaluations for the points of one formula
N_OUT = source.N_OUT

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Formulas end to end.

    Attributes:
        tapes: of the formulas.
        code, consts, dep: of all tapes.
        names: int64, for each variable of each formula the number of its name.
        kinds, targets: int64, as the kernel `find_zero_points` wants them, one place a variable.
        draws: float64, variable by variable, N_DRAW values each.
        spot, root: the points, ROOM places a formula; `fill` writes them.
        at: int64[n, 5], where the instructions, constants, variables, points and draws of a formula begin.
        size: int64[n, 4], instructions, variables, points, targets.
        rules: int64[n, n], of the crossing of formula i at the points of formula j.
        n_name: number of distinct names.
    """

    tapes: tuple[Tape, ...]
    code: Ints
    consts: Reals
    dep: Ints
    names: Ints
    kinds: Ints
    targets: Ints
    draws: Reals
    spot: Ints
    root: Reals
    at: Ints
    size: Ints
    rules: Ints
    n_name: int

    @property
    def n(self) -> int:
        """Number of formulas."""
        return len(self.tapes)


def pool_of(tapes: Sequence[Tape], digest: str = "") -> Pool:
    """Lay out tapes with one root each; every symbol is drawn as any of the formulas settles."""
    settled = {name: kind for tape in tapes for name, kind in tape.kinds.items()}
    how = {name: Sampling(settled[name]) if name in settled else ORDINARY for tape in tapes for name in tape.names}
    number = {name: place for place, name in enumerate(how)}
    at, size, kinds, targets = [], [], [], []
    starts = [0, 0, 0, 0, 0]
    for tape in tapes:
        n_var = len(tape.names)
        mine = [CODES.get(how[name].kind, source.POSITIVE) for name in tape.names]
        free = [v for v in range(n_var) if mine[v] != source.INTEGER]
        at.append(list(starts))
        size.append([tape.n_op, n_var, 0, len(free)])
        kinds += mine
        targets += [*free, *[0] * (n_var - len(free))]
        added = (tape.n_op, len(tape.consts) // 3, n_var, ROOM, n_var * N_DRAW)
        starts = [start + more for start, more in zip(starts, added, strict=True)]
    values = {name: draws(name, sampling, digest, N_DRAW) for name, sampling in how.items()}
    return Pool(
        tapes=tuple(tapes),
        code=np.concatenate([tape.code for tape in tapes]),
        consts=np.concatenate([tape.consts for tape in tapes]),
        dep=np.concatenate([tape.dep for tape in tapes]),
        names=np.array([number[name] for tape in tapes for name in tape.names], dtype=np.int64),
        kinds=np.array(kinds, dtype=np.int64),
        targets=np.array(targets, dtype=np.int64),
        draws=np.array([values[name] for tape in tapes for name in tape.names], dtype=np.float64).reshape(-1),
        spot=np.zeros(3 * ROOM * len(tapes), dtype=np.int64),
        root=np.zeros(3 * ROOM * len(tapes), dtype=np.float64),
        at=np.array(at, dtype=np.int64),
        size=np.array(size, dtype=np.int64),
        rules=_rules(tapes),
        n_name=len(number),
    )


def _rules(tapes: Sequence[Tape]) -> Ints:
    """Rules of each crossing, exact where decimals are written: what the engine asks first."""
    poles = [0 if tape.is_estimate else source.POLES_COUNT for tape in tapes]
    exact = [source.EXACT if tape.consts[2::3].any() else 0 for tape in tapes]
    return np.array([[poles[one] | exact[one] | exact[two] for two in range(len(tapes))] for one in range(len(tapes))],
                    dtype=np.int64)  # fmt: skip


def scratch(pool: Pool) -> tuple[Reals, ...]:
    """The arrays x, value, bound, adjoint, grad, long enough for every formula."""
    n_op, n_var = int(pool.size[:, 0].max()), int(pool.size[:, 1].max())
    return tuple(np.zeros(n) for n in (n_var, n_op, n_op, n_op, n_var))


def solving(pool: Pool) -> tuple[Any, ...]:
    """The further scratch of the kernel `find_zero_points`: poly, degree, work, roots, kept, tally."""
    n_op = int(pool.size[:, 0].max())
    return (
        np.zeros((2 * n_op + 3) * source.WIDTH), np.zeros(2 * n_op + source.MAX_BRANCHES, dtype=np.int64),
        np.zeros(2 * source.WIDTH), np.zeros(source.MAX_ROOTS + 1), np.zeros(2 * source.MAX_ROOTS + 2),
        np.zeros(2, dtype=np.int64),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Loops:
    """The three loops of one compiler.

    Attributes:
        fill: points of every formula; numba's only.
        cross: every formula at the points of every other: int64[n, n, N_OUT]; given a number of nodes, which come
            first, only nodes with the rest, both ways.
        evaluate: value, bound, flag and gradient of every formula at every draw.
    """

    fill: Callable[[Pool], None] | None
    cross: Callable[..., Ints]
    evaluate: Callable[[Pool], tuple[Ints, Reals, Reals, Reals]]


def loops_of_numba(module: ModuleType) -> Loops:
    """Loops around the compiled kernels."""
    import numba

    options: dict[str, Any] = {"error_model": "numpy", "_nrt": False}  # nothing is allocated: no counting of references
    jit: Any = numba.njit(**options)
    find_zero_points, cross = module.find_zero_points, module.cross_evaluate
    evaluate, gradient = module.evaluate, module.gradient

    @jit
    def fill(code, consts, dep, kinds, targets, draws, spot, root, at, size, x, value, bound, adjoint, grad, poly,
             degree, work, roots, kept, tally):  # fmt: skip
        for i in range(len(size)):
            op, const, var, point, draw = at[i, 0], at[i, 1], at[i, 2], at[i, 3], at[i, 4]
            n_op, n_var, n_target = size[i, 0], size[i, 1], size[i, 3]
            tally[:] = 0
            size[i, 2] = find_zero_points(
                code[3 * op : 3 * (op + n_op)], consts[3 * const :], dep[op : op + n_op], n_op, n_var,
                kinds[var : var + n_var], targets[var : var + n_var], n_target, draws[draw:], N_DRAW, WANT, ROOM,
                BUDGET, spot[3 * point :], root[3 * point :], x, value, bound, adjoint, grad, poly, degree, work,
                roots, kept, tally,
            )  # fmt: skip

    @jit
    def all_pairs(code, consts, dep, names, draws, spot, root, at, size, rules, n_node, place, slot_of, x, value,
                  bound, adjoint, grad, out):  # fmt: skip
        n = len(size)
        for i in range(n):
            op, const, var, draw = at[i, 0], at[i, 1], at[i, 2], at[i, 4]
            n_op, n_var = size[i, 0], size[i, 1]
            for v in range(n_var):
                place[names[var + v]] = v
            for j in range(n):
                if n_node > 0 and (i < n_node) == (j < n_node):
                    continue
                for w in range(size[j, 1]):
                    slot_of[w] = place[names[at[j, 2] + w]]
                point = at[j, 3]
                cross(
                    code[3 * op : 3 * (op + n_op)], consts[3 * const :], dep[op : op + n_op], n_op, n_var, draws[draw:],
                    N_DRAW, slot_of, spot[3 * point :], root[3 * point :], size[j, 2], rules[i, j], x, value, bound,
                    adjoint, grad, out[(i * n + j) * N_OUT : (i * n + j + 1) * N_OUT],
                )  # fmt: skip
            for v in range(n_var):
                place[names[var + v]] = -1

    @jit
    def all_draws(code, consts, dep, draws, at, size, x, value, bound, adjoint, grad, flags, values, bounds, slopes):
        for i in range(len(size)):
            op, const, draw = at[i, 0], at[i, 1], at[i, 4]
            n_op, n_var = size[i, 0], size[i, 1]
            mine = code[3 * op : 3 * (op + n_op)]
            for d in range(N_DRAW):
                for v in range(n_var):
                    x[v] = draws[draw + v * N_DRAW + d]
                flag = evaluate(mine, consts[3 * const :], dep[op : op + n_op], n_op, x, 0, value, bound)
                flags[i * N_DRAW + d] = flag
                if flag != 0:
                    continue
                gradient(mine, n_op, n_var, value, adjoint, grad)
                values[i * N_DRAW + d] = value[n_op - 1]
                bounds[i * N_DRAW + d] = bound[n_op - 1]
                for v in range(n_var):
                    slopes[draw + v * N_DRAW + d] = grad[v]

    def fill_pool(pool: Pool) -> None:
        fill(
            pool.code, pool.consts, pool.dep, pool.kinds, pool.targets, pool.draws, pool.spot, pool.root, pool.at,
            pool.size, *scratch(pool), *solving(pool),
        )  # fmt: skip

    def cross_pool(pool: Pool, n_node: int = 0) -> Ints:
        out = np.zeros(pool.n * pool.n * N_OUT, dtype=np.int64)
        all_pairs(
            pool.code, pool.consts, pool.dep, pool.names, pool.draws, pool.spot, pool.root, pool.at, pool.size,
            pool.rules, n_node, *_places(pool), *scratch(pool), out,
        )  # fmt: skip
        return out.reshape(pool.n, pool.n, N_OUT)

    def evaluate_pool(pool: Pool) -> tuple[Ints, Reals, Reals, Reals]:
        results = _results(pool)
        all_draws(pool.code, pool.consts, pool.dep, pool.draws, pool.at, pool.size, *scratch(pool), *results)
        return results

    return Loops(fill_pool, cross_pool, evaluate_pool)


def _places(pool: Pool) -> tuple[Ints, Ints]:
    """The slot of each name in the formula at hand, none at first; the slots of another's variables."""
    return np.full(pool.n_name, -1, dtype=np.int64), np.zeros(int(pool.size[:, 1].max()), dtype=np.int64)


def _results(pool: Pool) -> tuple[Ints, Reals, Reals, Reals]:
    n = pool.n * N_DRAW
    return np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n), np.zeros(len(pool.draws))


# In C. ------------------------------------------------------------------------------------------------------------


def c_compiler() -> str | None:
    """The C compiler of this machine, if it has one."""
    return shutil.which("gcc") or shutil.which("cc")


def loops_of_c(compiler: str, folder: Path) -> Loops:
    """Build `core.c` in a folder and wrap its loops."""
    library = folder / "core.so"
    defined = [f"-D{name}={value!r}" for name, value in _definitions().items()]
    command = [compiler, *C_FLAGS, *defined, "-o", str(library), str(C_SOURCE), "-lm"]
    subprocess.run(command, check=True)
    core = ctypes.CDLL(str(library))

    def cross_pool(pool: Pool) -> Ints:
        out = np.zeros(pool.n * pool.n * N_OUT, dtype=np.int64)
        _call(
            core.all_pairs, pool.n, N_DRAW, pool.code, pool.consts, pool.dep, pool.names, pool.draws, pool.spot,
            pool.root, pool.at, _three(pool), pool.rules, *_places(pool), *scratch(pool), out,
        )  # fmt: skip
        return out.reshape(pool.n, pool.n, N_OUT)

    def evaluate_pool(pool: Pool) -> tuple[Ints, Reals, Reals, Reals]:
        results = _results(pool)
        _call(
            core.all_draws, pool.n, N_DRAW, pool.code, pool.consts, pool.dep, pool.draws, pool.at, _three(pool),
            *scratch(pool), *results,
        )  # fmt: skip
        return results

    return Loops(None, cross_pool, evaluate_pool)


def _three(pool: Pool) -> Ints:
    """Sizes without the number of targets."""
    return np.ascontiguousarray(pool.size[:, :3])


def _call(function: Any, *arguments: Any) -> None:
    """Call a C function on whole numbers and arrays."""
    function.restype = None
    function(
        *(
            ctypes.c_int64(argument) if isinstance(argument, int) else ctypes.c_void_p(argument.ctypes.data)
            for argument in arguments
        )
    )


def _definitions() -> dict[str, int | float]:
    """Every opcode, flag and constant of the kernels."""
    named = {name: value for name, value in vars(source).items() if name.isupper() and isinstance(value, int | float)}
    return {name: value for name, value in named.items() if value == value}
