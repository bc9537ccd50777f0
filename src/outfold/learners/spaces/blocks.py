"""Configurations in blocks: what an anytime search fits together, in the order of expected use."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

# Configurations of a block that are fitted one by one: few, so that a budget always finds something to finish.
MOST_IN_A_BLOCK = 12


def blocks(configs: Mapping[str, Any]) -> list[list[str]]:
    """The names of the configurations by block, in order.

    A block is a part of one grid. Configurations that one fit serves are never in different blocks; besides these, a block
    has at most 12. An anytime search that finishes block after block wastes nothing.

    Parameters
    ----------
    configs : Configs, or dict of str to estimator
        A ready space, or your own configurations.

    Returns
    -------
    list of list of str
        The names, each once, in the order of `configs`.

    Examples
    --------
    >>> from outfold.learners import spaces
    >>> import numpy as np
    >>> [len(names) for names in spaces.blocks(spaces.tabular(np.zeros((100, 4)), "regression"))]
    [10, 12, 12, 6, 8, 12]
    """
    from ...fitting.sharing.plan import make_plan

    paths = make_plan(list(configs.values()), "exact").paths
    family = {name: None if path is None else path.group for name, path in zip(configs, paths, strict=True)}
    out: list[list[str]] = []
    for _, names in groupby(configs, stem):
        current: list[str] = []
        for _, members in groupby(names, lambda name: (family[name], name if family[name] is None else "")):
            unit = list(members)
            if current and len(current) + len(unit) > MOST_IN_A_BLOCK:
                out.append(current)
                current = []
            current += unit
        out.append(current)
    return out


def stem(name: str) -> str:
    """The name that was given to the grid: ``pca(share=0.9) logit`` of ``pca(share=0.9) logit(C=1)``."""
    depth = 0
    for position in range(len(name) - 1, -1, -1) if name.endswith(")") else ():
        depth += (name[position] == ")") - (name[position] == "(")
        if depth == 0:
            return name[:position]
    return name
