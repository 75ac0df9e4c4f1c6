import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutSecrets } from "../src/urls";

test("secrets of URLs are not shown", () => {
  const shown = {
    "https://user:word@host/dumps": "https://host/dumps",
    "https://TOKEN@host/dumps": "https://host/dumps",
    "https://host/dumps?X-Amz-Signature=1": "https://host/dumps",
    "https://host/dumps#token": "https://host/dumps",
    "ssh://user:word@host/dumps": "ssh://user@host/dumps",
    "zip://dumps::https://TOKEN@host/a.zip": "zip://dumps::https://host/a.zip",
    "ssh://user@host/dumps": "ssh://user@host/dumps",
    "gs://bucket/dumps": "gs://bucket/dumps",
  };
  for (const [url, expected] of Object.entries(shown)) {
    assert.equal(withoutSecrets(url), expected);
  }
});
