import * as vscode from "vscode";
import type { Middleware, ShowDocumentParams } from "vscode-languageclient/node";
import type { FileWindows } from "./fileWindows";
import type { Work } from "./work";

/** Between the server's answers and VS Code: places in large files, and what is going on. */
export function middlewareOf(windows: FileWindows, work: Work): Middleware {
  return {
    provideDefinition: async (document, position, token, next) =>
      windows.led(await next(document, position, token)),
    provideDeclaration: async (document, position, token, next) =>
      windows.led(await next(document, position, token)),
    provideTypeDefinition: async (document, position, token, next) =>
      windows.led(await next(document, position, token)),
    provideImplementation: async (document, position, token, next) =>
      windows.led(await next(document, position, token)),
    provideReferences: async (document, position, options, token, next) =>
      windows.led(await next(document, position, options, token)),
    handleWorkDoneProgress: (token, params, next) => {
      work.told(token, params);
      next(token, params);
    },
    window: {
      showDocument: async (params, next) => {
        const shown = await next(await inReach(windows, params), noCancellation());
        return "success" in shown ? shown : { success: false };
      },
    },
  };
}

async function inReach(windows: FileWindows, params: ShowDocumentParams): Promise<ShowDocumentParams> {
  if (params.external === true || params.selection === undefined) {
    return params;
  }
  const { start, end } = params.selection;
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  const place = await windows.shown(vscode.Uri.parse(params.uri), range);
  return { ...params, uri: place.uri.toString(), selection: place.range };
}

function noCancellation(): vscode.CancellationToken {
  return new vscode.CancellationTokenSource().token;
}
