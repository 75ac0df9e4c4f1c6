import assert from "node:assert/strict";
import { test } from "node:test";
import { inFile, inWindow, nameOf, Windows, type Window, type WindowReply } from "../src/windows";

const FILE = "file:///dumps/a%20b/module_0000.f.after_optimizations-buffer-assignment-values.txt";

/** A server that cuts files into windows of a hundred lines, and counts how often it is asked. */
function hundreds(): { windows: Windows; asked: number[] } {
  const asked: number[] = [];
  const reply = (line: number): WindowReply => {
    const firstLine = line - (line % 100);
    return { text: `window ${firstLine}\n`.repeat(100), firstLine, lineCount: 100 };
  };
  const windows = new Windows((_, line) => {
    asked.push(line);
    return Promise.resolve(line < 10_000 ? reply(line) : undefined);
  });
  return { windows, asked };
}

async function at(windows: Windows, line: number, stamp = "1"): Promise<Window> {
  const window = await windows.at(FILE, line, stamp);
  assert.ok(window);
  return window;
}

test("lines of one window are asked for once", async () => {
  const { windows, asked } = hundreds();
  const first = await at(windows, 4_250);
  assert.equal(first.firstLine, 4_200);
  assert.equal(await at(windows, 4_299), first);
  assert.notEqual(await at(windows, 4_300), first);
  assert.deepEqual(asked, [4_250, 4_300]);
});

test("a name says the lines as editors count them, ends as the file does, and leads back", async () => {
  const { windows, asked } = hundreds();
  const window = await at(windows, 4_250);
  const name = nameOf(window);
  assert.equal(name.path, "/lines 4201-4300/module_0000.f.after_optimizations-buffer-assignment-values.txt");
  assert.equal(name.query, FILE);
  assert.equal(name.fragment, "1");
  assert.equal(await windows.named(name), window);
  assert.equal(asked.length, 1);
});

test("the text of a window that was open in an earlier session is asked for again", async () => {
  const name = nameOf(await at(hundreds().windows, 4_250));
  const { windows, asked } = hundreds();
  assert.equal((await windows.named(name))?.firstLine, 4_200);
  assert.deepEqual(asked, [4_200]);
});

test("names that are none show nothing", async () => {
  const { windows } = hundreds();
  assert.equal(await windows.named({ path: "/elsewhere/a.txt", query: FILE, fragment: "1" }), undefined);
  assert.equal(await windows.named({ path: "/lines 1-2/a.txt", query: "", fragment: "1" }), undefined);
});

test("what the server does not know has no window", async () => {
  assert.equal(await hundreds().windows.at(FILE, 10_000, "1"), undefined);
});

test("a file that was written anew has new windows", async () => {
  const { windows, asked } = hundreds();
  const old = await at(windows, 4_250, "1");
  const young = await at(windows, 4_251, "2");
  assert.deepEqual(asked, [4_250, 4_251]);
  assert.notDeepEqual(nameOf(old), nameOf(young));
  assert.equal(await windows.named(nameOf(young)), young);
});

test("windows are let go when there are many", async () => {
  const { windows, asked } = hundreds();
  for (let line = 0; line < 4_000; line += 100) {
    await at(windows, line);
  }
  await at(windows, 3_900);
  assert.equal(asked.length, 40);
  await at(windows, 0);
  assert.equal(asked.length, 41);
});

test("places move with the window, there and back", async () => {
  const window = await at(hundreds().windows, 4_250);
  const span = { start: { line: 4_250, character: 3 }, end: { line: 4_250, character: 9 } };
  const shown = inWindow(window, span);
  assert.deepEqual(shown, { start: { line: 50, character: 3 }, end: { line: 50, character: 9 } });
  assert.deepEqual(inFile(window, shown.start), span.start);
});

test("a record that goes on behind the window ends with it", async () => {
  const window = await at(hundreds().windows, 4_250);
  const span = { start: { line: 4_290, character: 0 }, end: { line: 4_310, character: 7 } };
  assert.deepEqual(inWindow(window, span), {
    start: { line: 90, character: 0 },
    end: { line: 100, character: 0 },
  });
});
