"""k, l and t of random tables, against pyCANON (Sáinz-Pardo Díaz and López García 2022), a counter of its own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbas.core.privacy.checking import check_release

from ..exploring import tried
from .strategies import column_from_array

anonymity = pytest.importorskip("pycanon.anonymity", reason="pyCANON is not installed: bash scripts/setup test")


@pytest.mark.slow
@settings(max_examples=tried(25, 60), deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_k_l_and_t_agree_with_pycanon(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 120))
    frame = pd.DataFrame(
        {
            "sex": rng.integers(0, 2, n).astype(str),
            "age": rng.integers(0, int(rng.integers(1, 5)), n).astype(str),
            "diagnosis": np.array(["flu", "cold", "cough", "none"])[rng.integers(0, int(rng.integers(1, 5)), n)],
            "job": np.array(["cook", "clerk"])[rng.integers(0, 2, n)],
        }
    )
    columns = {name: column_from_array(frame[name].to_numpy().astype(str)) for name in frame}
    quasi, sensitive = ({name: columns[name] for name in names} for names in (("sex", "age"), ("diagnosis", "job")))
    check = check_release(quasi, {}, 2, sensitive=sensitive)
    assert check.k_found == anonymity.k_anonymity(frame, list(quasi))
    assert check.l_found == anonymity.l_diversity(frame, list(quasi), list(sensitive))
    assert check.t_found == pytest.approx(anonymity.t_closeness(frame, list(quasi), list(sensitive)))
