"""The answers about the compiles of a folder: large ones in full, others in a line."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hlo_lsp.display.phrases import count_noun
from hlo_lsp.display.table import Content
from hlo_lsp.memory.savings import largest_first
from hlo_lsp.model.compile import Compile
from hlo_lsp.reports.module_names import (
    ModuleIdentity,
    distinct_titles,
    joined_names,
    module_identity,
)
from hlo_lsp.text.inert import Json

_MAX_NAMES = 10  # in a line


@dataclass(frozen=True, slots=True, eq=False)
class ModuleAnswer:
    """The answer about a compile.

    Attributes:
        module: The facts in which it differs from other compiles.
        size: What makes it large, such as its peak in bytes.
        content: Returns the text and the tables; the first line begins with the given title and a
            colon.
        json: Returns the facts as JSON.
        paths: The paths of its files.
    """

    module: ModuleIdentity
    size: float
    content: Callable[[str], Content]
    json: Callable[[], Json]
    paths: frozenset[Path] = frozenset()


def module_answer(
    dump: Compile, size: float, content: Callable[[str], Content], json: Callable[[], Json]
) -> ModuleAnswer:
    """Return the answer about a compile."""
    paths = frozenset(file.path for file in dump.files if file.path is not None)
    return ModuleAnswer(module_identity(dump), size, content, json, paths)


def answers_content(
    answers: Sequence[ModuleAnswer], paths: Collection[Path], *, with_small: bool
) -> Iterator[Content]:
    """Yield the text and the tables of the answers in order.

    Answers of one line that are equal except for the name share a line. Answers about compiles
    below 1% of the largest are left out, and one line names them.

    Args:
        answers: The answers.
        paths: The paths that the user named: the compile of a file is never left out.
        with_small: Whether small compiles are shown in full.
    """
    titles = answer_titles(answers)
    small = set() if with_small else _small(answers, paths)
    shown = []
    alike: dict[str | None, list[ModuleAnswer]] = {}
    for answer, title in zip(answers, titles, strict=True):
        if answer not in small:
            content = list(answer.content(title))
            fact = _only_fact(content, title)
            shown.append((answer, content, fact))
            alike.setdefault(fact, []).append(answer)
    for answer, content, fact in shown:
        same = [answer] if fact is None else alike[fact]
        if len(same) == 1:
            yield content
        elif answer is same[0]:
            yield [f"{joined_names((one.module.name for one in same), _MAX_NAMES)}{fact}"]
    if small:
        names = joined_names((one.module.name for one in answers if one in small), _MAX_NAMES)
        count = count_noun(len(small), "module")
        yield [f"{count} below 1% of the largest (--all shows them in full): {names}"]


def _only_fact(content: Sequence[object], title: str) -> str | None:
    """Return what follows the title in an answer of one line, None for other answers."""
    is_line = len(content) == 1 and isinstance(content[0], str)
    return str(content[0]).removeprefix(title) if is_line else None


def _small(answers: Sequence[ModuleAnswer], paths: Collection[Path]) -> set[ModuleAnswer]:
    """Return the answers about small compiles, except those of files that the user named."""
    named = {path: [one for one in answers if path in one.paths] for path in paths}
    alone = [found[0] for found in named.values() if len(found) == 1]
    _, small = largest_first(answers, lambda answer: answer.size)
    return {answer for answer in small if answer not in alone}


def answer_titles(answers: Sequence[ModuleAnswer]) -> list[str]:
    """Return a title for each answer, which no other one has."""
    return distinct_titles([answer.module for answer in answers])


def answers_json(answers: Sequence[ModuleAnswer]) -> Json:
    """Return the answers as JSON, each with its title."""
    titled = zip(answers, answer_titles(answers), strict=True)
    return {
        "modules": [
            {"name": answer.module.name, "title": title, **answer.json()}
            for answer, title in titled
        ]
    }
