import assert from "node:assert/strict";
import { test } from "node:test";
import { inFile, inWindow, nameOf, Windows, type Window, type WindowReply } from "../src/windows";

const FILE = "file:///dumps/a%20b/module_0000.f.after_optimizations-buffer-assignment-values.txt";

/** Return windows of a server that serves 100 lines at a time, and the lines of its requests. */
function recordedWindows(): { windows: Windows; requestedLines: number[] } {
  const requestedLines: number[] = [];
  const reply = (line: number): WindowReply => {
    const firstLine = line - (line % 100);
    return { text: `window ${firstLine}\n`.repeat(100), firstLine, lineCount: 100 };
  };
  const windows = new Windows((_, line) => {
    requestedLines.push(line);
    return Promise.resolve(line < 10_000 ? reply(line) : undefined);
  });
  return { windows, requestedLines };
}

async function at(windows: Windows, line: number, stamp = "1"): Promise<Window> {
  const window = await windows.at(FILE, line, stamp);
  assert.ok(window);
  return window;
}

test("lines of one window need one request", async () => {
  const { windows, requestedLines } = recordedWindows();
  const first = await at(windows, 4_250);
  assert.equal(first.firstLine, 4_200);
  assert.equal(await at(windows, 4_299), first);
  assert.notEqual(await at(windows, 4_300), first);
  assert.deepEqual(requestedLines, [4_250, 4_300]);
});

test("a name has lines from 1 and the file name, and resolves to its window", async () => {
  const { windows, requestedLines } = recordedWindows();
  const window = await at(windows, 4_250);
  const name = nameOf(window);
  assert.equal(name.path, "/lines 4201-4300/module_0000.f.after_optimizations-buffer-assignment-values.txt");
  assert.equal(name.query, FILE);
  assert.equal(name.fragment, "1");
  assert.equal(await windows.named(name), window);
  assert.equal(requestedLines.length, 1);
});

test("a window of an earlier session is requested again", async () => {
  const name = nameOf(await at(recordedWindows().windows, 4_250));
  const { windows, requestedLines } = recordedWindows();
  assert.equal((await windows.named(name))?.firstLine, 4_200);
  assert.deepEqual(requestedLines, [4_200]);
});

test("an invalid name has no window", async () => {
  const { windows } = recordedWindows();
  assert.equal(await windows.named({ path: "/elsewhere/a.txt", query: FILE, fragment: "1" }), undefined);
  assert.equal(await windows.named({ path: "/lines 1-2/a.txt", query: "", fragment: "1" }), undefined);
});

test("a line that the server does not have has no window", async () => {
  assert.equal(await recordedWindows().windows.at(FILE, 10_000, "1"), undefined);
});

test("a changed file has new windows", async () => {
  const { windows, requestedLines } = recordedWindows();
  const old = await at(windows, 4_250, "1");
  const current = await at(windows, 4_251, "2");
  assert.deepEqual(requestedLines, [4_250, 4_251]);
  assert.notDeepEqual(nameOf(old), nameOf(current));
  assert.equal(await windows.named(nameOf(current)), current);
});

test("the oldest of many windows is dropped", async () => {
  const { windows, requestedLines } = recordedWindows();
  for (let line = 0; line < 4_000; line += 100) {
    await at(windows, line);
  }
  await at(windows, 3_900);
  assert.equal(requestedLines.length, 40);
  await at(windows, 0);
  assert.equal(requestedLines.length, 41);
});

test("ranges convert between file and window", async () => {
  const window = await at(recordedWindows().windows, 4_250);
  const span = { start: { line: 4_250, character: 3 }, end: { line: 4_250, character: 9 } };
  const shown = inWindow(window, span);
  assert.deepEqual(shown, { start: { line: 50, character: 3 }, end: { line: 50, character: 9 } });
  assert.deepEqual(inFile(window, shown.start), span.start);
});

test("a range that extends past the window ends with it", async () => {
  const window = await at(recordedWindows().windows, 4_250);
  const span = { start: { line: 4_290, character: 0 }, end: { line: 4_310, character: 7 } };
  assert.deepEqual(inWindow(window, span), {
    start: { line: 90, character: 0 },
    end: { line: 100, character: 0 },
  });
});
