"""How broad a generator is: how many of its cases are no near duplicates of each other."""

from collections.abc import Iterable, Mapping

import numpy as np

from tiebreak.audits.near import Index


def distinct(cases: Iterable[tuple[str, Mapping[str, str]]], threshold: float) -> list[str]:
    """The cases, in their order, that are not over `threshold` like an earlier one of them.

    cases: (case id, {form: source}) as in `near.Index`; two cases are as alike as the most alike of their forms.
    Time and memory grow with the square of the number of cases; meant for some hundreds.
    """
    index = Index(cases)
    common = (index.matrix @ index.matrix.T).toarray()
    alike = common / (index.sizes[:, None] + index.sizes[None, :] - common) > threshold
    kept: list[str] = []
    taken = np.zeros(len(index.sizes), dtype=bool)
    for case, forms in index.forms.items():
        documents = list(forms)
        if not alike[documents][:, taken].any():
            kept.append(case)
            taken[documents] = True
    return kept
