import { execFile } from "node:child_process";

/** What a program printed. Rejects when it cannot be started, fails, or takes too long. */
export function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly timeout: number; readonly signal?: AbortSignal },
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { ...options, windowsHide: true }, (error, stdout, stderr) => {
      if (error === null) {
        resolve(stdout);
      } else {
        reject(new Error([error.message.trim(), stderr.trim()].filter(Boolean).join("\n")));
      }
    });
  });
}
