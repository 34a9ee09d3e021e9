"""Tell of references that cannot be used, for frameworks whose rewards have no None: the number 0 alone says nothing.

A few bad rows are a warning each, and cost a run nothing: all solutions of a group have the same reward. Where no row
at all has had a reference that can be used, the column is another one or the problem set is: a run that goes on learns
nothing, so that is an error. One bad row may be the first to come, so it takes some.

Refused: an error for each bad row (a run of days would die of one row), and an error for the first one (rows come in
threads, in any order).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from prism.errors import PrismError
from prism.inputs import shown
from prism.rewards.reward import Rewarded

HOPELESS = 16  # rows with bad references, and none with one that can be used, after which that is an error
_MOST_TOLD = 20  # different warnings; a data set may have a million bad rows
_SHOWN_FAULT = 400  # characters


class BadReferences:
    """What has been seen of the references so far; a copy that is pickled begins anew.

    Threads may share it: at worst one warning is given twice.
    """

    def __init__(self, setting: str) -> None:
        """Begin with nothing seen.

        Args:
            setting: where a user says which references are meant, for the error.
        """
        self.setting = setting
        self._is_any_usable = False
        self._n_bad = 0
        self._told: set[str] = set()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the setting alone."""
        return {"setting": self.setting, "_is_any_usable": False, "_n_bad": 0, "_told": set()}

    def watch(self, references: Iterable[Any], found: Sequence[Rewarded]) -> None:
        """Warn of each reference that cannot be used, once.

        Errors:
            PrismError: of `HOPELESS` rows or more no reference could be used.
        """
        for reference, each in zip(references, found, strict=False):
            if not each.scalars["bad_reference"]:
                self._is_any_usable = True
                continue
            self._n_bad += 1
            fault = "; ".join(each.fault.splitlines())[:_SHOWN_FAULT]
            told = f"reference {shown(reference)} cannot be used, so that its rewards are 0: {fault}"
            if told not in self._told and len(self._told) < _MOST_TOLD:
                self._told.add(told)
                warnings.warn(told, stacklevel=3)
            if self._n_bad >= HOPELESS and not self._is_any_usable:
                raise PrismError(
                    f"none of {self._n_bad} references so far can be used; {self.setting}. The last: {told}"
                )
