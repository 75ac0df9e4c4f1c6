/** The parts of URLs that are secret, and the packages that read URLs. Nothing here depends on VS Code. */

const TOKEN = /(https?:\/\/)[^/@]*@/g; // a server of HTTP has no user name that is not part of a secret
const PASSWORD = /(:\/\/[^/@:]*):[^/@]*@/g;
const SIGNATURE = /[?#].*$/;

const INSTALLATION = /^.*: "?([^"]+?)"? -m pip install "([^"]+)"$/u;

/** A package that reads some kind of URLs, and the interpreter that lacks it. */
export interface MissingPackage {
  readonly python: string;
  readonly requirement: string;
}

/** Return what a message of the server says is missing, as `installing` of `text/remote_errors.py` writes it. */
export function missingPackage(message: string): MissingPackage | undefined {
  const [, python, requirement] = INSTALLATION.exec(message) ?? [];
  return python === undefined || requirement === undefined ? undefined : { python, requirement };
}

/** Return a URL as the user may show it to others. */
export function withoutSecrets(url: string): string {
  return url.replace(TOKEN, "$1").replace(PASSWORD, "$1@").replace(SIGNATURE, "");
}
