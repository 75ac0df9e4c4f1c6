import assert from "node:assert/strict";
import { test } from "node:test";
import { explain, MAX_FULL_SERVICE_BYTES, MAX_FULL_SERVICE_LINES, serviceFor, MAX_SYNCHRONIZED_BYTES } from "../src/largeFiles";

test("a file of exactly a limit is served", () => {
  assert.equal(serviceFor(0), "full");
  assert.equal(serviceFor(MAX_FULL_SERVICE_BYTES, MAX_FULL_SERVICE_LINES), "full");
  assert.equal(serviceFor(MAX_FULL_SERVICE_BYTES + 1), "reduced");
  assert.equal(serviceFor(1, MAX_FULL_SERVICE_LINES + 1), "reduced");
  assert.equal(serviceFor(MAX_SYNCHRONIZED_BYTES), "reduced");
  assert.equal(serviceFor(MAX_SYNCHRONIZED_BYTES + 1), "none");
});

test("the message has the size and the features that work", () => {
  assert.match(explain("a.txt", 210 * 1024 * 1024, "none"), /^a\.txt is 210 MiB\. .*window/);
  assert.match(explain("a.txt", 22 * 1024 * 1024, "reduced"), /^a\.txt is 22 MiB\. .*Hovers.* work\.$/);
});
