/** Joins a program's modules, ours and those of packages, into a few plain JavaScript files. Decision 0014. */
import { appendFileSync, chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join, sep } from "node:path"
import { type Plugin, rolldown } from "rolldown"
import { licencesOf, packageFolder } from "./licences.ts"
import { joinPage } from "./page.ts"
import type { Program } from "./programs.ts"

/**
 * Writes the joined program into a folder.
 *
 * Without comments, which each start would read, but not minified, so that a stack trace names functions and the lines
 * around say which source they are from. Maps lie beside it for `NODE_OPTIONS=--enable-source-maps`: reading them would
 * take as long as half a start.
 *
 * - Fails: rejects when a module is missing, when a file that is started or read by name would not be found, and when a
 *   package brings no licence.
 */
export const joinProgram = async (program: Program, folder: string, root: string): Promise<void> => {
  const { copies, entries, single } = program
  const modules: Array<string> = []
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(root, path)])),
    platform: "node",
    moduleTypes: { ".txt": "text" },
    ...(single === undefined ? {} : { transform: { target: `node${single.node}` } }),
    plugins: [checked(modules, new Set([...Object.keys(entries).map((name) => `${name}.js`), ...Object.keys(copies)]))],
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message)
    }
  })
  try {
    await bundle.write({
      dir: folder,
      format: "esm",
      sourcemap: single === undefined,
      minify: false,
      ...(single === undefined ? {} : { codeSplitting: false, banner: "#!/usr/bin/env node" }),
      entryFileNames: single === undefined ? "[name].js" : "[name].mjs",
      chunkFileNames: "[name]-[hash].js",
      comments: { legal: true, jsdoc: false, annotation: false }
    })
  } finally {
    await bundle.close()
  }
  for (const [name, path] of Object.entries(copies)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    cpSync(join(root, path), join(folder, name))
  }
  if (single === undefined) {
    // Node is to read the files as modules wherever the folder is.
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n')
  } else {
    // The file travels alone, so the licences of what is in it travel inside.
    const licences = `\n/*\n${licencesOf(modules).replaceAll("*/", "* /")}*/\n`
    for (const name of Object.keys(entries)) {
      const file = join(folder, `${name}.mjs`)
      appendFileSync(file, licences)
      chmodSync(file, 0o755)
    }
  }
  if (program.page !== undefined) writeFileSync(join(folder, program.page.name), await joinPage(program.page, root))
  writeFileSync(join(folder, "LICENSES.txt"), licencesOf(modules))
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"))
}

/** Notes each file that is joined, and checks what ours ask for by name. */
const checked = (modules: Array<string>, beside: ReadonlySet<string>): Plugin => ({
  name: "checked",
  load: (id) => {
    const path = id.split("?")[0]!
    if (!path.includes(sep) || path.startsWith("\0")) return null
    const text = readFileSync(path, "utf8")
    modules.push(path)
    const lost = packageFolder(path) === null ? calledToThrow(text) : []
    if (lost.length > 0)
      throw new Error(
        `${basename(path)} calls ${lost.join(", ")} and takes no value: the joined program would leave the ` +
          "call out, and not throw what it throws. Take the value"
      )
    const missing = packageFolder(path) === null ? namesBeside(text).filter((name) => !beside.has(name)) : []
    if (missing.length > 0)
      throw new Error(
        `${basename(path)} needs ${missing.join(", ")} beside itself, and nothing of that name is made. ` +
          "Add it to scripts/build/programs.ts"
      )
    return text
  }
})

/**
 * Statements that are called for nothing but what they may throw, of functions that the bundler holds to have no
 * effect.
 */
export const calledToThrow = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .flatMap(
      (line) => /^\s*(?:void )?((?:en|de)codeURI(?:Component)?|String\.(?:fromCodePoint|raw))\(/.exec(line)?.[1] ?? []
    )

/** The files that a module finds by its own address, as they are called once they are joined. */
export const namesBeside = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .filter((line) => line.includes("import.meta.url"))
    .flatMap((line) => [
      ...[...line.matchAll(/"\.\/([\w./-]+)\.(ts|js)"/g)].map((match) => `${match[1]}.js`),
      ...[...line.matchAll(/threadModule\("([\w-]+)", /g)].map((match) => `${match[1]}.js`)
    ])
