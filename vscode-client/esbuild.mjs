// Bundles the extension into dist/, or with `test` the unit tests into out/.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, platform: "node", format: "cjs", target: "node18", sourcemap: false };

if (process.argv[2] === "test") {
  rmSync("out", { recursive: true, force: true });
  const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts")).map((name) => `test/${name}`);
  await build({ ...common, entryPoints: tests, outdir: "out", sourcemap: "inline" });
} else {
  const { metafile } = await build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    external: ["vscode"],
    minify: true,
    metafile: true,
  });
  writeFileSync("dist/licenses.txt", licenses(Object.keys(metafile.inputs)));
}

/** The licences of the packages from which something is in the bundle. */
function licenses(inputs) {
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []));
  return [...folders].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const [file] = readdirSync(folder).filter((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) {
      throw new Error(`${name} has no licence text`);
    }
    return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
  }).join(`\n${"-".repeat(80)}\n\n`);
}
