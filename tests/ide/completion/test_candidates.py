"""The order and number of completion candidates."""

from hlo_lsp.ide.completion.candidates import (
    MAX_CANDIDATES,
    CandidateKind,
    best_candidates,
    label_matcher,
    plain_candidate,
)


def test_short_list_is_returned_whole() -> None:
    few = [plain_candidate(name, CandidateKind.INSTRUCTION) for name in ("%a", "%b")]
    assert best_candidates(few, "%b") == (few, True)


def test_long_list_is_filtered() -> None:
    many = [
        plain_candidate(f"%fusion.{number}", CandidateKind.INSTRUCTION)
        for number in range(3 * MAX_CANDIDATES)
    ]
    found, complete = best_candidates(many, "")
    assert (found, complete) == (many[:MAX_CANDIDATES], False)
    found, complete = best_candidates(
        [*many, plain_candidate("%copy.7", CandidateKind.INSTRUCTION)], "%co"
    )
    assert [candidate.label for candidate in found] == ["%copy.7"]
    assert not complete


def test_prefix_matches_rank_before_scattered_characters() -> None:
    names = ["%d_copy", "%cxoxpxy", "%copy.1", "%other"]
    many = [plain_candidate(name, CandidateKind.INSTRUCTION) for name in names * MAX_CANDIDATES]
    found, _ = best_candidates(many, "copy")
    assert {candidate.label for candidate in found[:MAX_CANDIDATES]} == {"%copy.1"}
    assert [label_matcher("copy")(name) for name in names] == [1, 2, 0, None]
    assert label_matcher("%COPY")("copy") == 0


def test_regex_characters_match_literally() -> None:
    assert label_matcher("a.b")("aXb") is None
    assert label_matcher("(f32[")("(f32[8], s32[])") == 0
