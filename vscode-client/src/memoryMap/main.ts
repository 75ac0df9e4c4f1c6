/** The start of the page: in a browser with the data in the file, in VS Code with data in messages. */

import { BROWSER, type FromPage, type Host, type ToPage } from "./host";
import { parseDocument, type MemoryMapDocument } from "./model";
import { Page } from "./page";

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };

function start(): void {
  const root = document.getElementById("memory-map");
  if (root === null) {
    return;
  }
  const isEditor = "acquireVsCodeApi" in window;
  const page = isEditor ? startInEditor(root) : startInBrowser(root);
  const refresh = (): void => {
    page.refreshTheme();
  };
  for (const query of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)", "(forced-colors: active)"]) {
    matchMedia(query).addEventListener("change", refresh);
  }
  // VS Code changes the class of the body with the theme.
  new MutationObserver(refresh).observe(document.body, { attributes: true, attributeFilter: ["class"] });
}

function startInBrowser(root: HTMLElement): Page {
  const page = new Page(root, BROWSER);
  const data = document.getElementById("memory-map-data")?.textContent ?? "";
  if (data.trim() !== "") {
    page.load(parseDocument(data), false);
  }
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    void event.dataTransfer?.files[0]?.text().then((text) => {
      page.loadText(text);
    });
  });
  return page;
}

function startInEditor(root: HTMLElement): Page {
  const editor = acquireVsCodeApi();
  const host: Host = {
    isEditor: true,
    open: (places, others) => {
      editor.postMessage({ type: "open", places, others });
    },
  };
  const page = new Page(root, host);
  window.addEventListener("message", ({ data }: MessageEvent<ToPage>) => {
    switch (data.type) {
      case "data":
        page.load(data.document as MemoryMapDocument, false);
        break;
      case "error":
        page.showMessage(data.message);
        break;
      case "cursor":
        page.highlight(data);
        break;
    }
  });
  editor.postMessage({ type: "ready" });
  return page;
}

start();
