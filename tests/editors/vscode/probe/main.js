// Serves the API of VS Code for extensions, in this window, over HTTP.
//
// The port is in a file in the folder PROBE_PORTS, named after the workspace.
const { createHash } = require("node:crypto");
const { renameSync, writeFileSync } = require("node:fs");
const { createServer } = require("node:http");
const { join } = require("node:path");
const vscode = require("vscode");

exports.activate = (context) => {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) {
      body += part;
    }
    let reply;
    try {
      const { name, args } = JSON.parse(body);
      reply = { result: plain(await requests[name](...args.map(real))) ?? null };
    } catch (error) {
      reply = { error: String(error?.stack ?? error) };
    }
    response.end(JSON.stringify(reply));
  });
  const report = () => {
    const workspace = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
    const name = createHash("sha256").update(workspace).digest("hex");
    const path = join(process.env.PROBE_PORTS, name);
    writeFileSync(`${path}.part`, `${server.address().port} ${process.pid}`);
    renameSync(`${path}.part`, path);
  };
  server.listen(0, "127.0.0.1", () => {
    report();
    // On a busy machine, extensions start before the folders of a workspace file are known.
    context.subscriptions.push(vscode.workspace.onDidChangeWorkspaceFolders(report));
  });
  context.subscriptions.push({ dispose: () => server.close() });
};

const RESET = [
  "workbench.action.closeAllEditors",
  "workbench.action.closePanel",
  "notifications.hideList",
  "notifications.clearAll",
  "workbench.view.explorer",
];
/** By target: the values of the settings before the test changed them. */
const configured = new Map();

async function configure(name, value, where) {
  const settings = vscode.workspace.getConfiguration();
  const before = configured.get(where) ?? {};
  if (!(name in before)) {
    before[name] = settings.inspect(name)?.[`${where === "Global" ? "global" : "workspace"}Value`];
  }
  configured.set(where, before);
  await settings.update(name, value, vscode.ConfigurationTarget[where]);
}

const requests = {
  /** Any command, with arguments as `real` makes them. */
  command: (name, ...args) => vscode.commands.executeCommand(name, ...args),
  async open(uri, range) {
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document, { preview: false, selection: range });
    if (range) {
      editor.revealRange(range, vscode.TextEditorRevealType.InCenter);
    }
    return document.languageId;
  },
  /** The active editor: its path, or its URI if it is not a file. */
  active() {
    const editor = vscode.window.activeTextEditor;
    return editor && {
      file: editor.document.uri,
      language: editor.document.languageId,
      selection: editor.selection,
      line: editor.document.lineAt(editor.selection.active.line).text,
    };
  },
  async text(uri) {
    return (await vscode.workspace.openTextDocument(uri)).getText();
  },
  async edit(uri, range, text) {
    const edit = new vscode.WorkspaceEdit();
    edit.replace(uri, range, text);
    return vscode.workspace.applyEdit(edit);
  },
  diagnostics: (uri) => vscode.languages.getDiagnostics(uri),
  /** Semantic tokens: [line, column, length, type, [modifiers]], from 0. */
  async tokens(uri, range) {
    const kind = range ? "RangeSemanticTokens" : "SemanticTokens";
    const legend = await vscode.commands.executeCommand(`vscode.provideDocument${kind}Legend`, uri, range);
    const tokens = await vscode.commands.executeCommand(`vscode.provideDocument${kind}`, uri, range);
    if (!legend) {
      return undefined; // no provider yet
    }
    const decoded = [];
    let [line, column] = [0, 0];
    const data = tokens?.data ?? [];
    for (let at = 0; at < data.length; at += 5) {
      const [lines, columns, length, type, modifiers] = data.slice(at, at + 5);
      column = lines ? columns : column + columns;
      line += lines;
      const named = legend.tokenModifiers.filter((_, bit) => modifiers & (1 << bit));
      decoded.push([line, column, length, legend.tokenTypes[type], named]);
    }
    return decoded;
  },
  /** Change settings by their full names until `reset`, in the workspace or for the user. */
  async configure(values, where = "Workspace") {
    for (const [name, value] of Object.entries(values)) {
      await configure(name, value, where);
    }
  },
  /** Make the window as it was before the test: its settings, editors, panels, and notifications. */
  async reset() {
    for (const document of vscode.workspace.textDocuments.filter(({ isDirty }) => isDirty)) {
      await vscode.window.showTextDocument(document);
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    }
    // The command killAll never ends if a program exits meanwhile.
    vscode.window.terminals.forEach((terminal) => terminal.dispose());
    for (const command of RESET) {
      await vscode.commands.executeCommand(command);
    }
    for (const [where, before] of configured) {
      for (const [name, value] of Object.entries(before)) {
        await vscode.workspace.getConfiguration().update(name, value, vscode.ConfigurationTarget[where]);
      }
    }
    configured.clear();
  },
  /** Whether an extension is active, and its folder. */
  extension: (id) => {
    const extension = vscode.extensions.getExtension(id);
    return extension && { isActive: extension.isActive, path: extension.extensionPath };
  },
  isTrusted: () => vscode.workspace.isTrusted,
  tools: () => vscode.lm.tools.map(({ name }) => name).filter((name) => name.startsWith("hlo_")),
  /** The text of a tool's answer, or of its error. */
  async invokeTool(name, input) {
    try {
      const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
      return content.map(({ value }) => value).join("");
    } catch (error) {
      return String(error);
    }
  },
  tabs: () =>
    vscode.window.tabGroups.all.flatMap(({ tabs }) =>
      tabs.map(({ label, isActive, input }) => ({ label, isActive, file: input?.uri })),
    ),
};

/** Values that JSON lacks: {$uri: path or URI}, {$position: [line, column]}, {$range: [l, c, l, c]}. */
function real(value) {
  if (Array.isArray(value)) {
    return value.map(real);
  }
  if (value === null || typeof value !== "object") {
    return value ?? undefined;
  }
  if ("$uri" in value) {
    return value.$uri.startsWith("/") ? vscode.Uri.file(value.$uri) : vscode.Uri.parse(value.$uri, true);
  }
  if ("$position" in value) {
    return new vscode.Position(...value.$position);
  }
  if ("$range" in value) {
    return new vscode.Range(...value.$range);
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, real(each)]));
}

/** Results as JSON: files as paths, places as numbers from 0, markdown as its text. */
function plain(value) {
  if (value === null || typeof value !== "object") {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(plain);
  }
  if (value instanceof Map) {
    return plain([...value]);
  }
  if (value instanceof vscode.Uri) {
    return value.scheme === "file" ? value.fsPath : value.toString();
  }
  if (value instanceof vscode.Position) {
    return [value.line, value.character];
  }
  if (value instanceof vscode.Range) {
    return [...plain(value.start), ...plain(value.end)];
  }
  if (value instanceof vscode.MarkdownString) {
    return value.value;
  }
  if (value instanceof vscode.WorkspaceEdit) {
    return plain(value.entries());
  }
  const names = new Set(Object.keys(value));
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(value))) {
    if (Object.getOwnPropertyDescriptor(Object.getPrototypeOf(value), name).get) {
      names.add(name);
    }
  }
  const shown = [...names].filter((name) => !name.startsWith("_") && typeof value[name] !== "function");
  return Object.fromEntries(shown.map((name) => [name, plain(value[name])]));
}
