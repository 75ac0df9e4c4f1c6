// Bundles the extension into dist/, or with `test` the unit tests into out/.
// With `assets`, bundles the memory map into the Python package, whose reports contain it.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, platform: "node", format: "cjs", target: "node18", sourcemap: false };

if (process.argv[2] === "test") {
  rmSync("out", { recursive: true, force: true });
  const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts")).map((name) => `test/${name}`);
  await build({ ...common, entryPoints: tests, outdir: "out", sourcemap: "inline" });
} else if (process.argv[2] === "assets") {
  await buildMemoryMap(process.argv[3] ?? "../server/hlo_lsp/reports/assets");
} else {
  await buildMemoryMap("dist");
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

/** Bundle the script and the style of the memory map, which run in a browser. */
async function buildMemoryMap(folder) {
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    bundle: true,
    platform: "browser",
    format: "iife",
    target: "es2022",
    minify: true,
    metafile: true,
    entryPoints: ["src/memoryMap/main.ts", "src/memoryMap/memoryMap.css"],
    entryNames: "memoryMap",
    outdir: folder,
  });
  copyFileSync("src/memoryMap/memoryMap.html", `${folder}/memoryMap.html`);
  writeFileSync(`${folder}/memoryMap.licenses.txt`, licenses(Object.keys(metafile.inputs)));
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
