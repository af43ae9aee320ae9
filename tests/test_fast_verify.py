"""Every rung passes the project's own verification, outputs and gradients, in two precisions."""

import pytest

from relpos_np import fast
from relpos_np.fast import plan
from relpos_np.verify import verify

RUNGS = {
    "gather": (fast.gather_forward, fast.gather_backward),
    "skew": (fast.skew_forward, fast.skew_backward),
    "tiled": (fast.tiled_forward, fast.tiled_backward),
    "the choice": (fast.attention_forward, fast.attention_backward),
}


def as_candidates(forward, backward):
    """The two functions as `verify` calls them: the backward runs its own forward first."""

    def candidate(query, key, value, key_table, value_table, mask, query_start):
        return forward(
            query, key, value, key_table, value_table, mask=mask, query_start=query_start
        )[0]

    def grads(grad_output, query, key, value, key_table, value_table, mask, query_start):
        _, cache = forward(
            query, key, value, key_table, value_table, mask=mask, query_start=query_start
        )
        return backward(grad_output, cache)

    return candidate, grads


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("rung", RUNGS.values(), ids=RUNGS)
def test_the_rung_passes(rung, dtype):
    candidate, grads = as_candidates(*rung)
    report = verify(candidate, grads=grads, dtype=dtype)
    report.assert_ok()
    assert report.verdict == "PASS"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_tiled_passes_with_many_tiles(monkeypatch, dtype):
    monkeypatch.setattr(plan, "QUERIES_PER_TILE", 3)
    candidate, grads = as_candidates(*RUNGS["tiled"])
    verify(candidate, grads=grads, dtype=dtype).assert_ok()


def test_a_fault_in_a_tile_does_not_pass(monkeypatch):
    """Planted: the right tail begins one key too early."""
    make_tiles = plan.make_tiles
    monkeypatch.setattr(plan, "QUERIES_PER_TILE", 3)
    monkeypatch.setattr(plan, "make_tiles", lambda *arguments: [
        tile._replace(right=max(tile.right - 1, tile.left)) for tile in make_tiles(*arguments)
    ])
    candidate, _ = as_candidates(*RUNGS["tiled"])
    assert verify(candidate).verdict in ("MISTAKE", "UNKNOWN")
