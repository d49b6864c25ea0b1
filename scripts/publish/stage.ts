/** Makes the published packages: emits the libraries' modules and types, and puts each package into a folder. */
import { spawnSync } from "node:child_process"
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, relative, sep } from "node:path"
import { joinProgram } from "../build/join.ts"
import { programs } from "../build/programs.ts"
import { joinLibrary } from "./join-library.ts"
import { commandPackages, libraries, type Library } from "./list.ts"
import { unlinkMissing } from "./pages.ts"
import {
  commandManifest,
  LIBRARY_ENGINES,
  libraryManifest,
  publishedExports,
  OLD_ENGINES,
  type WorkspaceManifest
} from "./manifest.ts"

/**
 * Writes every package that is published to `out/<name without scope>`, as `npm pack` takes it.
 *
 * - Fails: throws with the compiler's report when the types do not hold, or when a package's file is missing.
 */
export const stagePackages = async (root: string, out: string): Promise<ReadonlyArray<string>> => {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const emitted = emit(root, out)
  const folders: Array<string> = []
  for (const library of libraries) folders.push(await stageLibrary(root, out, emitted, library))
  rmSync(emitted, { recursive: true, force: true })
  for (const { folder } of commandPackages) folders.push(await stageCommand(root, out, folder))
  return folders
}

/** Runs the compiler once for all libraries. Only modules that an export or a thread reaches are made: no test is. */
const emit = (root: string, out: string): string => {
  const outDir = join(out, ".emitted")
  const config = join(out, "tsconfig.json")
  writeFileSync(
    config,
    JSON.stringify({
      extends: relative(out, join(root, "tsconfig.json")),
      compilerOptions: {
        noEmit: false,
        rootDir: relative(out, root),
        outDir: ".emitted",
        rewriteRelativeImportExtensions: true,
        declaration: true,
        declarationMap: true,
        sourceMap: true,
        // Through node_modules the compiler takes our packages for those of others, and leaves modules out.
        paths: Object.fromEntries(
          libraries.flatMap(({ folder }) => {
            const manifest = manifestOf(root, folder)
            return publishedExports(manifest).map(([subpath, file]) => [
              manifest.name + subpath.slice(1),
              [relative(out, join(root, folder, file))]
            ])
          })
        )
      },
      include: [],
      files: libraries.flatMap((library) => entriesOf(root, library)).map((file) => relative(out, join(root, file)))
    })
  )
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc")
  const result = spawnSync(process.execPath, [compiler, "-p", config], { cwd: root, encoding: "utf8" })
  rmSync(config)
  if (result.status !== 0) throw new Error(`The libraries do not compile.\n${result.stdout}${result.stderr}`)
  return outDir
}

const entriesOf = (root: string, { folder, threads }: Library): ReadonlyArray<string> => [
  ...publishedExports(manifestOf(root, folder)).map(([, file]) => join(folder, file)),
  ...Object.values(manifestOf(root, folder).bin ?? {}).map((file) => join(folder, file)),
  ...threads.map((file) => join(folder, file))
]

const stageLibrary = async (root: string, out: string, emittedRoot: string, library: Library): Promise<string> => {
  const { assets, extras, folder, isJoined } = library
  const to = packageFolder(out, root, folder)
  const from = join(emittedRoot, folder, "src")
  for (const path of filesUnder(from)) {
    if (!isJoined || !/\.js(?:\.map)?$/.test(path)) {
      const target = join(to, "dist", path)
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, published(readFileSync(join(from, path), "utf8"), path, folder))
    }
    if (path.endsWith(".js")) copy(join(root, folder, "src", sourceOf(path)), join(to, "src", sourceOf(path)))
  }
  const names = Object.keys(extras)
  if (isJoined) {
    await joinLibrary(root, folder, to)
    names.push("LICENSES.txt")
  }
  requireModules(join(to, "dist"))
  for (const pattern of assets)
    for (const path of globSync(pattern, { cwd: join(root, folder, "src") }))
      copy(join(root, folder, "src", path), join(to, "dist", path))
  for (const [name, path] of Object.entries(extras)) cpSync(join(root, path), join(to, name), { recursive: true })
  const specification = join(root, folder, "SPEC.md")
  if (exists(specification)) {
    copy(specification, join(to, "SPEC.md"))
    names.push("SPEC.md")
  }
  writeManifest(to, libraryManifest(manifestOf(root, folder), names, isJoined))
  copyTexts(root, folder, to)
  unlinkMissing(to)
  return to
}

const stageCommand = async (root: string, out: string, folder: string): Promise<string> => {
  const to = packageFolder(out, root, folder)
  const program = programs.find(({ app }) => app === folder)!
  mkdirSync(join(to, "dist"), { recursive: true })
  await joinProgram(program, join(to, "dist"), root)
  const workspace = manifestOf(root, folder)
  const isVerifier = folder === "apps/verify"
  const command = Object.keys(workspace.bin!)[0]!
  const starter = isVerifier ? "dist/flyball-verify.mjs" : "bin/start.cjs"
  if (!isVerifier) copy(join(root, folder, starter), join(to, starter))
  writeManifest(to, commandManifest(workspace, { [command]: starter }, isVerifier ? OLD_ENGINES : LIBRARY_ENGINES))
  copyTexts(root, folder, to)
  unlinkMissing(to)
  return to
}

/**
 * Converts an emitted file for publication: types name modules as Node does, and maps lead to the sources beside
 * `dist`.
 */
const published = (text: string, path: string, folder: string): string => {
  if (path.endsWith(".map")) {
    const map = JSON.parse(text) as { sources: Array<string> }
    const depth = path.split(sep).length
    map.sources = [`${"../".repeat(depth)}src/${sourceOf(path).split(sep).join("/")}`]
    return JSON.stringify(map)
  }
  const named = path.endsWith(".d.ts") ? text.replaceAll(/((?:from|import\() ?"\.\.?\/[^"]+)\.ts"/g, '$1.js"') : text
  const own = /(?:from |import\()"(\.\.?\/[^"]+\.ts)"/.exec(named)
  if (own !== null) throw new Error(`${folder}/dist/${path} imports ${own[1]}, which is not published.`)
  return named
}

/** Fails: throws when a module or a declaration names one that was not made. */
const requireModules = (dist: string): void => {
  for (const path of filesUnder(dist)) {
    if (!/\.(?:js|d\.ts)$/.test(path)) continue
    const text = readFileSync(join(dist, path), "utf8")
    for (const [, named] of text.matchAll(/^(?:import|export)\b[^;]*?["'](\.\.?\/[^"']+\.js)["']/gm)) {
      const module = join(dist, dirname(path), named!)
      if (!exists(path.endsWith(".d.ts") ? module.replace(/\.js$/, ".d.ts") : module))
        throw new Error(`${join(dist, path)} imports ${named}, which was not made.`)
    }
  }
}

const sourceOf = (path: string): string => path.replace(/(?:\.d\.ts|\.js)(?:\.map)?$/, ".ts")

const packageFolder = (out: string, root: string, folder: string): string => {
  const to = join(out, manifestOf(root, folder).name.replace("@flyball/", ""))
  mkdirSync(to, { recursive: true })
  return to
}

const manifestOf = (root: string, folder: string): WorkspaceManifest =>
  JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as WorkspaceManifest

const writeManifest = (to: string, manifest: object): void =>
  writeFileSync(join(to, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)

/** The texts that a package shows: its own README, the project's licence and notice, and its history. */
const copyTexts = (root: string, folder: string, to: string): void => {
  copy(join(root, folder, "README.md"), join(to, "README.md"))
  copy(join(root, "LICENSE"), join(to, "LICENSE"))
  copy(join(root, "NOTICE"), join(to, "NOTICE"))
  const own = join(root, folder, "CHANGELOG.md")
  copy(exists(own) ? own : join(root, "packages/core/CHANGELOG.md"), join(to, "CHANGELOG.md"))
}

const copy = (from: string, to: string): void => {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to)
}

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

const filesUnder = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => statSync(join(folder, path)).isFile())
