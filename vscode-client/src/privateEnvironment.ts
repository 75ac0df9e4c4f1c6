/** A Python environment of the extension's own, made from the wheels that came with it. */

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { ask } from "./interpreters";
import { run } from "./run";

const PATIENCE = 120_000; // milliseconds for one step

export class PrivateEnvironment {
  /**
   * @param storage the folder in which environments lie, one for each set of wheels
   * @param wheels the folder of the wheels
   * @param unpack the program that unpacks them
   */
  constructor(
    private readonly storage: string,
    private readonly wheels: string,
    private readonly unpack: string,
  ) {}

  /** Its interpreter; undefined if it was not made, or for other wheels, or its Python is gone. */
  async interpreter(): Promise<string | undefined> {
    const path = interpreterIn(await this.folder());
    return (await exists(path)) ? path : undefined;
  }

  /** Whether one was made for this or an earlier set of wheels: then nobody need be asked again. */
  async wasMadeBefore(): Promise<boolean> {
    return (await this.made()).length > 0;
  }

  /**
   * Make it, and remove those of earlier versions.
   *
   * It is made aside and moved into its place when it is whole: what is there is never half an
   * environment, and two windows that make it at once do not disturb each other.
   *
   * @param base the interpreter that it stands on
   * @returns its interpreter
   * @throws Error if Python fails or the server does not start in it; the message is Python's
   */
  async make(base: string, report: (step: string) => void, signal: AbortSignal): Promise<string> {
    const before = await this.made();
    const folder = await this.folder();
    const aside = `${folder}.${process.pid}`;
    const options = { cwd: this.storage, timeout: PATIENCE, signal };
    await mkdir(this.storage, { recursive: true });
    try {
      report("making an environment");
      await run(base, ["-m", "venv", "--without-pip", "--clear", aside], options);
      report("unpacking the server");
      await run(interpreterIn(aside), [this.unpack, ...(await this.wheelPaths())], options);
      report("trying it");
      if ((await ask(interpreterIn(aside), this.storage))?.server === undefined) {
        throw new Error(`The server does not start with ${base}.`);
      }
      await rm(folder, { recursive: true, force: true });
      await rename(aside, folder);
    } finally {
      await rm(aside, { recursive: true, force: true });
    }
    const old = before.map((name) => join(this.storage, name)).filter((path) => path !== folder);
    await Promise.allSettled(old.map((path) => rm(path, { recursive: true, force: true })));
    return interpreterIn(folder);
  }

  private async made(): Promise<string[]> {
    const names = await readdir(this.storage).catch(() => []);
    return names.filter((name) => /^[0-9a-f]{16}$/.test(name));
  }

  private async folder(): Promise<string> {
    const hash = createHash("sha256");
    for (const path of await this.wheelPaths()) {
      hash.update(await readFile(path));
    }
    return join(this.storage, hash.digest("hex").slice(0, 16));
  }

  private async wheelPaths(): Promise<string[]> {
    const names = await readdir(this.wheels);
    return names
      .filter((name) => name.endsWith(".whl"))
      .sort()
      .map((name) => join(this.wheels, name));
  }
}

function interpreterIn(environment: string): string {
  return process.platform === "win32"
    ? join(environment, "Scripts", "python.exe")
    : join(environment, "bin", "python");
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(), // of what a link leads to: the Python below may have been removed
    () => false,
  );
}
