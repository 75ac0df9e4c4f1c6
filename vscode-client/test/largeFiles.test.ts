import assert from "node:assert/strict";
import { test } from "node:test";
import { explain, OPTIMISED, OPTIMISED_LINES, serviceFor, SYNCHRONISED } from "../src/largeFiles";

test("limits are the last sizes that are still served", () => {
  assert.equal(serviceFor(0), "full");
  assert.equal(serviceFor(OPTIMISED, OPTIMISED_LINES), "full");
  assert.equal(serviceFor(OPTIMISED + 1), "reduced");
  assert.equal(serviceFor(1, OPTIMISED_LINES + 1), "reduced");
  assert.equal(serviceFor(SYNCHRONISED), "reduced");
  assert.equal(serviceFor(SYNCHRONISED + 1), "none");
});

test("the message says how large the file is and what works", () => {
  assert.match(explain("a.txt", 210 * 1024 * 1024, "none"), /^a\.txt is 210 MiB\. .*window/);
  assert.match(explain("a.txt", 22 * 1024 * 1024, "reduced"), /^a\.txt is 22 MiB\. .*Hovers.* work\.$/);
});
