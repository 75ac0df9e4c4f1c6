import assert from "node:assert/strict";
import { test } from "node:test";
import { Work } from "../src/work";

test("work is current from begin to end", () => {
  let changes = 0;
  const work = new Work(() => {
    changes += 1;
  });
  work.update("a", { kind: "begin", title: "Reading values" });
  work.update(2, { kind: "begin", title: "Checking" });
  work.update("a", { kind: "report", percentage: 50 });
  assert.deepEqual(work.current, ["Reading values", "Checking"]);
  work.update("a", { kind: "end" });
  assert.deepEqual(work.current, ["Checking"]);
  assert.equal(changes, 3);
  work.clear();
  assert.deepEqual(work.current, []);
});
