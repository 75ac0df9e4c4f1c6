import assert from "node:assert/strict";
import { test } from "node:test";
import { Backoff } from "../src/backoff";

test("each death waits twice as long, the sixth in three minutes is the last", () => {
  let now = 0;
  const backoff = new Backoff(() => now);
  const waits = Array.from({ length: 6 }, () => {
    now += 10_000;
    return backoff.died();
  });
  assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, undefined]);
});

test("deaths of long ago do not count", () => {
  let now = 0;
  const backoff = new Backoff(() => now);
  for (let hour = 0; hour < 20; hour += 1) {
    now += 3_600_000;
    assert.equal(backoff.died(), 500);
  }
});

test("whoever restarts by hand begins anew", () => {
  const backoff = new Backoff(() => 0, 500, 1);
  assert.equal(backoff.died(), 500);
  assert.equal(backoff.died(), undefined);
  backoff.forgive();
  assert.equal(backoff.died(), 500);
});
