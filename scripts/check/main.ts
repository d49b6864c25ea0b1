/**
 * `npm run check`: types, lint, import floors, seeds, doc comments, long lines, avoided words, the verifier's closure,
 * the lock file.
 *
 * Prints each violation and exits 1 if there is one.
 */
import { spawnSync } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { fileURLToPath } from "node:url"
import { outdatedPages } from "../docs-tables/tables.ts"
import { leakedTypes } from "../publish/joined-types.ts"
import { exportsWithoutSpec, undocumentedExports, vagueSummaries } from "./doc-comments.ts"
import { checkFloors, closureOf, folderCycles } from "./floors.ts"
import { longLines, longPageLines } from "./long-lines.ts"
import { unseededRuns } from "./seeds.ts"
import { checkWords, GLOSSARY } from "./words.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..")
const problems: Array<string> = []

const run = (name: string, program: string, args: ReadonlyArray<string>): void => {
  const startedAt = performance.now()
  const result = spawnSync(process.execPath, [join(root, "node_modules", program), ...args], {
    cwd: root,
    encoding: "utf8"
  })
  if (result.status !== 0) problems.push(`${name}:\n${result.stdout}${result.stderr}`)
  console.log(
    `${result.status === 0 ? "ok  " : "FAIL"} ${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`
  )
}

const report = (name: string, found: ReadonlyArray<string>): void => {
  if (found.length > 0) problems.push(`${name}:\n${found.map((line) => `  ${line}`).join("\n")}`)
  console.log(`${found.length === 0 ? "ok  " : "FAIL"} ${name}`)
}

const sources = globSync(
  ["packages/**/*.ts", "apps/**/*.ts", "property-tests/**/*.ts", "benchmarks/**/*.ts", "scripts/**/*.ts"],
  {
    cwd: root,
    exclude: ["**/node_modules/**", "**/dist/**"]
  }
)
  .map((path) => path.split("\\").join("/"))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))

/** Package names and subpaths of the workspace, to their source files. */
const workspaceEntries = (): ReadonlyMap<string, string> => {
  const entries = new Map<string, string>()
  for (const manifestPath of globSync(["packages/*/package.json", "apps/*/package.json"], { cwd: root })) {
    const manifest = JSON.parse(readFileSync(join(root, manifestPath), "utf8")) as {
      name: string
      exports: Record<string, string>
    }
    for (const [subpath, file] of Object.entries(manifest.exports)) {
      entries.set(
        posix.join(manifest.name, subpath),
        posix.join(posix.dirname(manifestPath.split("\\").join("/")), file)
      )
    }
  }
  return entries
}

// What a run found is kept, and the next one checks only what a change can have touched: seconds in place of half a
// minute. A clean clone checks everything.
run("types", "typescript/bin/tsc", [
  "-p",
  "tsconfig.json",
  "--incremental",
  "--tsBuildInfoFile",
  join(root, "node_modules/.cache/types.tsbuildinfo")
])
run("lint", "oxlint/bin/oxlint", [
  "--deny-warnings",
  "packages",
  "apps",
  "property-tests",
  "scripts",
  "benchmarks",
  "examples"
])
run("format", "oxfmt/bin/oxfmt", [
  "--check",
  ...sources.map(({ path }) => path),
  ...globSync(["apps/*/bin/*.cjs", "scripts/**/*.cjs"], { cwd: root })
])
report(
  "import floors",
  checkFloors(sources).map((violation) => `${violation.path}:${violation.line} ${violation.message}`)
)

report(
  "no folders that import each other in a circle",
  folderCycles(sources).map((cycle) => cycle.join(", "))
)

const pages = globSync(["**/*.md"], { cwd: root, exclude: ["**/node_modules/**", "**/dist/**"] })
  .map((path) => path.split("\\").join("/"))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
report(
  "fixed seeds of random tests",
  unseededRuns(sources.filter(({ path }) => path !== "scripts/check/seeds.test.ts"))
)

report("a doc comment on each export", undocumentedExports(sources))

report("doc comments that open with a verb or a noun", vagueSummaries(sources))

report("the specification of each refusal and service", exportsWithoutSpec(sources))

report("lines of at most 120 columns", [...longLines(sources), ...longPageLines(pages)])

report(`plain words (${GLOSSARY})`, checkWords([...sources, ...pages], readFileSync(join(root, GLOSSARY), "utf8")))

report(
  "tables of pages (npm run tables)",
  outdatedPages((page) => readFileSync(join(root, page), "utf8"))
)

const texts = new Map(sources.map((file) => [file.path, file.text]))
const closures = [
  { entry: "apps/verify/src/main.ts", may: ["node:", "@noble/"] },
  // In a browser: no module of Node is there.
  { entry: "apps/verify/src/page/page.ts", may: ["@noble/"] },
  { entry: "apps/verify/src/page/worker.ts", may: ["@noble/"] },
  // In Deno, Bun and workers too. `file-spool` is an entry of its own.
  { entry: "packages/client/src/index.ts", may: ["@noble/"] }
]
report(
  "the import closures of the verifier and of the client",
  closures.flatMap(({ entry, may }) => [
    ...(existsSync(join(root, entry)) ? [] : [`${entry} is missing`]),
    ...closureOf(texts, entry, workspaceEntries())
      .modules.filter((name) => !may.some((prefix) => name.startsWith(prefix)))
      .map(
        (name) =>
          `${entry} reaches ${name}; only evidence, envelope, rules and ${may.map((each) => `${each}*`).join(", ")} ` +
          "may be reached"
      )
  ])
)

report("published types of joined libraries", leakedTypes(root))

const lock = readFileSync(join(root, "package-lock.json"), "utf8")
report(
  "lock file without download addresses",
  lock
    .split("\n")
    .flatMap((line, index) =>
      /"resolved": "(https?|git)/.test(line) ? [`package-lock.json:${index + 1} names a download address`] : []
    )
)

const manifests = [
  "package.json",
  ...globSync(["packages/*/package.json", "apps/*/package.json", "property-tests/package.json"], { cwd: root })
]
report(
  "exact versions",
  manifests.flatMap((path) => {
    const manifest = JSON.parse(readFileSync(join(root, path), "utf8")) as Record<
      string,
      Record<string, string> | undefined
    >
    return ["dependencies", "devDependencies", "optionalDependencies"].flatMap((group) =>
      Object.entries(manifest[group] ?? {})
        .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        .map(([name, version]) => `${path}: ${name} is ${version}; pin one exact version`)
    )
  })
)

if (problems.length > 0) {
  console.error(`\n${problems.join("\n\n")}`)
  process.exit(1)
}
