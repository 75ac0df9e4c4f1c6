"""A window with a whole folder of a TPU comes to rest: no view is refreshed without a change."""

import asyncio
import shutil
from pathlib import Path

from editors.vscode.marks import vscode
from editors.vscode.waiting import until
from editors.vscode.window import LENS, Window

pytestmark = vscode(2)
MODULE = "module_0504.jit_train_step.cl_1014260217.after_optimizations.txt"
_QUIET_SECONDS = 10.0  # five pulls of the workspace
_COUNT_CHANGES = """seconds => new Promise(resolve => {
    let changes = 0;
    const lenses = () => [...document.querySelectorAll(".editor-instance .codelens-decoration")]
        .map(lens => lens.textContent).join("\\n");
    let last = lenses();
    const observer = new MutationObserver(() => {
        const now = lenses();
        changes += now === last ? 0 : 1;
        last = now;
    });
    const options = {childList: true, subtree: true, characterData: true};
    observer.observe(document.body, options);
    setTimeout(() => { observer.disconnect(); resolve(changes); }, seconds * 1000);
})"""


async def test_lenses_of_a_whole_folder_rest(
    corpus_whole: Path, folder: Path, window: Window
) -> None:
    shutil.copytree(corpus_whole / "tpu7x", folder / "tpu7x")
    await window.open(folder / "tpu7x" / MODULE)
    await until(window.shown(LENS), lambda found: any(" on TPU7x" in one for one in found))

    async def changes() -> int:
        count: int = await window.page.evaluate(_COUNT_CHANGES, _QUIET_SECONDS)
        return count

    await asyncio.wait_for(until(changes, lambda count: count == 0), 120)
    assert await changes() == 0
