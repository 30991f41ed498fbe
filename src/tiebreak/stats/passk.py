"""pass@k: the chance that at least one of k samples solves a case."""

import numpy as np
import numpy.typing as npt

from tiebreak.errors import DataError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def integers(values: npt.ArrayLike, name: str) -> Integers:
    """`values` as whole numbers of at least 0; raises DataError for NaN, fractions and negative numbers."""
    array = np.atleast_1d(np.asarray(values))
    if array.dtype.kind not in "iu":
        number = array.astype(float)
        bad = ~np.isfinite(number) | (number != np.floor(number))
        if bad.any():
            at = int(np.argmax(bad))
            raise DataError(f"{name}[{at}] is {array[at]}; a whole number is expected")
    whole = array.astype(np.int64)
    if (whole < 0).any():
        at = int(np.argmax(whole < 0))
        raise DataError(f"{name}[{at}] is {whole[at]}; a count is never negative")
    return whole


def pass_at_k(samples: npt.ArrayLike, solved: npt.ArrayLike, k: int) -> Floats:
    """The unbiased estimate of pass@k for each case: 1 − C(n − c, k) / C(n, k).

    samples, solved: n and c, one whole number a case. The product form of Chen et al. 2021 (arXiv 2107.03374).
    Raises DataError, naming the position, for n < k (there is no unbiased estimate) and for c > n.
    """
    n, c = np.broadcast_arrays(integers(samples, "samples"), integers(solved, "solved"))
    if k < 1:
        raise DataError(f"k is {k}; at least 1 is expected")
    if (n < k).any():
        at = int(np.argmax(n < k))
        raise DataError(f"case {at} has {n[at]} samples; pass@{k} needs at least {k}: sample more or ask a smaller k")
    if (c > n).any():
        at = int(np.argmax(c > n))
        raise DataError(f"case {at} is solved {c[at]} times in {n[at]} samples; the counts are damaged")
    drawn = np.arange(k)
    failures = np.maximum(n[:, None] - c[:, None] - drawn, 0) / (n[:, None] - drawn)
    return np.asarray(1.0 - failures.prod(axis=1), dtype=np.float64)
