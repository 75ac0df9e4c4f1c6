import { execFile } from "node:child_process";
import type * as vscode from "vscode";
import type { Server } from "./server";

/** The part of the API for language-model tools that VS Code has since 1.95. */
interface ToolApi {
  readonly lm?: {
    registerTool?(name: string, tool: { invoke: Invoke }): vscode.Disposable;
  };
  readonly LanguageModelToolResult?: new (parts: unknown[]) => unknown;
  readonly LanguageModelTextPart?: new (text: string) => unknown;
}

type Invoke = (options: { readonly input: object }, token: vscode.CancellationToken) => Promise<unknown>;

const PREFIX = "hlo_"; // before the names of the tools of `hlo-lsp mcp`
const MAX_OUTPUT_BYTES = 10_000_000;

/** Run a tool of `hlo-lsp mcp`, and return its answer. */
export type RunTool = (name: string, input: object, token: vscode.CancellationToken) => Promise<string>;

/**
 * Register the tools of package.json; older versions of VS Code have no such tools.
 *
 * @param api the module `vscode`
 * @param tools the names of the tools
 */
export function registerTools(api: object, tools: readonly string[], run: RunTool): vscode.Disposable[] {
  const { lm, LanguageModelToolResult: Result, LanguageModelTextPart: Text } = api as ToolApi;
  if (lm?.registerTool === undefined || Result === undefined || Text === undefined) {
    return [];
  }
  const register = lm.registerTool.bind(lm);
  return tools.map((name) =>
    register(name, {
      invoke: async ({ input }, token) => new Result([new Text(await run(name.slice(PREFIX.length), input, token))]),
    }),
  );
}

/**
 * Return a function that runs a tool in a process of its own.
 *
 * @param folder the working directory: Python imports from there first, so it is not a workspace folder
 * @param directory returns the folder of relative paths, if there is one
 */
export function toolRunner(
  server: Pick<Server, "program">,
  folder: string,
  directory: () => string | undefined,
): RunTool {
  return async (name, input, token) => {
    const program = await server.program();
    if (program === undefined) {
      throw new Error("The HLO language server cannot be started.");
    }
    const base = directory();
    const args = [
      ...program.args,
      ...["mcp", "--call", name, "--arguments", JSON.stringify(input)],
      ...(base === undefined ? [] : ["--directory", base]),
    ];
    return new Promise((resolve, reject) => {
      const options = { cwd: folder, maxBuffer: MAX_OUTPUT_BYTES };
      const child = execFile(program.command, args, options, (error, output, errors) => {
        cancelled.dispose();
        if (error === null) {
          resolve(output);
        } else {
          reject(new Error(errors.trim() || error.message));
        }
      });
      const cancelled = token.onCancellationRequested(() => child.kill());
    });
  };
}
