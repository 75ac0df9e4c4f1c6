import assert from "node:assert/strict";
import { test } from "node:test";
import { missingPackage, withoutSecrets } from "../src/urls";

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

test("messages name the missing package and its interpreter", () => {
  const message = "gs://b/x: Please install gcsfs to access Google Storage";
  const missing = (python: string) => missingPackage(`${message}: ${python} -m pip install "gcsfs"`);
  assert.deepEqual(missing("/usr/bin/python3"), { python: "/usr/bin/python3", requirement: "gcsfs" });
  const windows = "C:\\Program Files\\python.exe";
  assert.deepEqual(missing(`"${windows}"`), { python: windows, requirement: "gcsfs" });
  assert.equal(missingPackage(message), undefined);
});
