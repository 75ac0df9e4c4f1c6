"""An answer does not depend on the requests before it."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.requests import (
    DOCUMENT_METHODS,
    POSITION_METHODS,
    capabilities,
    random_position,
    request_params,
)
from bench.wire import Client

_MODULE = "tpu_v5e_jax_0.9.2/module_0156.jit_rngf.cl_878335365.after_optimizations"
_PLACES = 4
# Costs are missing in these answers until the server has computed them.
_REFRESHED = frozenset({"codeLens", "hover", "inlayHint"})

Request = tuple[str, dict[str, Any]]


def test_answers_are_equal_in_two_orders(corpus_small: Path) -> None:
    """Only what is refreshed waits for the server: 1,301 instructions are still being indexed."""
    path = corpus_small / f"{_MODULE}.txt"
    first = _answers(path, 1)
    last = _answers(path, -1)
    differing = [request for request, answer in first.items() if last[request] != answer]
    assert differing == []
    assert len(first) > len(POSITION_METHODS)


def _answers(path: Path, step: int) -> dict[str, Any]:
    """Return the answers of a new server to all requests, asked in an order or in reverse."""
    client = Client(path, capabilities())
    client.open()
    requests = list(_requests(client))[::step]
    found = {f"{method} {params}": _answer(client, method, params) for method, params in requests}
    client.settle()
    for method, params in requests:
        if method in _REFRESHED:
            found[f"{method} {params}"] = _answer(client, method, params)
    client.close()
    return found


def _answer(client: Client, method: str, params: dict[str, Any]) -> Any:
    answer = client.reply(method, params)
    if method == "diagnostic":
        return answer["items"]  # the other part names the state of the process
    if method == "codeLens":
        return [client.request("codeLens/resolve", lens) for lens in _some(answer)]
    if method.startswith("semanticTokens/full"):
        return answer["data"]
    return answer


def _requests(client: Client) -> Iterator[Request]:
    chance = random.Random(7)
    places = [random_position(client, chance) for _ in range(_PLACES)]
    for place in places:
        for method in POSITION_METHODS:
            yield method, request_params(client, method, *place)
    for method in DOCUMENT_METHODS:
        yield method, request_params(client, method, 0, 0)


def _some(lenses: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    return lenses[:: max(len(lenses) // 5, 1)]
