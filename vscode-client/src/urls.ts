/** The parts of URLs that are secret: passwords, tokens, and signatures. */

const TOKEN = /(https?:\/\/)[^/@]*@/g; // a server of HTTP has no user name that is not part of a secret
const PASSWORD = /(:\/\/[^/@:]*):[^/@]*@/g;
const SIGNATURE = /[?#].*$/;

/** Return a URL as the user may show it to others. */
export function withoutSecrets(url: string): string {
  return url.replace(TOKEN, "$1").replace(PASSWORD, "$1@").replace(SIGNATURE, "");
}
