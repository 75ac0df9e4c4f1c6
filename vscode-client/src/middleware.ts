import * as vscode from "vscode";
import type { Middleware, ShowDocumentParams } from "vscode-languageclient/node";
import type { FileWindows } from "./fileWindows";
import { withSampleSources } from "./sample";
import type { Work } from "./work";

/**
 * Return middleware that shows places in large files in windows, tracks progress, and maps the sources of the sample.
 *
 * @param sample the folder of the sample dump
 */
export function middlewareOf(windows: FileWindows, work: Work, sample: string): Middleware {
  return {
    workspace: {
      configuration: async (params, token, next) => {
        const answers = await next(params, token);
        return Array.isArray(answers)
          ? answers.map((answer: unknown, index) =>
              params.items[index]?.section === "hlo" ? withSampleSources(answer, sample) : answer,
            )
          : answers;
      },
    },
    provideDefinition: async (document, position, token, next) =>
      windows.inWindows(await next(document, position, token)),
    provideDeclaration: async (document, position, token, next) =>
      windows.inWindows(await next(document, position, token)),
    provideTypeDefinition: async (document, position, token, next) =>
      windows.inWindows(await next(document, position, token)),
    provideImplementation: async (document, position, token, next) =>
      windows.inWindows(await next(document, position, token)),
    provideReferences: async (document, position, options, token, next) =>
      windows.inWindows(await next(document, position, options, token)),
    handleWorkDoneProgress: (token, params, next) => {
      work.update(token, params);
      next(token, params);
    },
    window: {
      showDocument: async (params, next) => {
        const result = await next(await toWindow(windows, params), noCancellation());
        return "success" in result ? result : { success: false };
      },
    },
  };
}

async function toWindow(windows: FileWindows, params: ShowDocumentParams): Promise<ShowDocumentParams> {
  if (params.external === true || params.selection === undefined) {
    return params;
  }
  const { start, end } = params.selection;
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  const place = await windows.locate(vscode.Uri.parse(params.uri), range);
  return { ...params, uri: place.uri.toString(), selection: place.range };
}

function noCancellation(): vscode.CancellationToken {
  return new vscode.CancellationTokenSource().token;
}
