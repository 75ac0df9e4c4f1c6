// The part of the API of the Python extension that the client uses (@vscode/python-extension).
//
// `python.setInterpreter` selects the interpreter of the setting `python.otherInterpreterPath`.
const vscode = require("vscode");

exports.activate = (context) => {
  const changed = new vscode.EventEmitter();
  const settings = () => vscode.workspace.getConfiguration("python");
  let selected;
  const active = () => selected ?? settings().get("defaultInterpreterPath");
  context.subscriptions.push(
    changed,
    vscode.commands.registerCommand("python.setInterpreter", () => {
      selected = settings().get("otherInterpreterPath");
      changed.fire({ id: selected, path: selected });
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("python")) {
        selected = undefined;
      }
    }),
  );
  return {
    environments: {
      getActiveEnvironmentPath: () => ({ id: active(), path: active() }),
      resolveEnvironment: async (environment) =>
        environment.path ? { executable: { uri: vscode.Uri.file(environment.path) } } : undefined,
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
