/**
 * The import floors of the workspace as tables, and a pure function that checks source files against them.
 *
 * Spec: house section 2. Imports go down only; `npm run check` enforces it.
 */

/** The folders of core, from the ground up. A file imports from its own folder and from those before it. */
export const coreOrder: ReadonlyArray<string> = [
  "foundation",
  "storage",
  "admission",
  "idempotency",
  "capability",
  "chain",
  "registry",
  "verdicts",
  "screens",
  "outward",
  "governor"
]

/** The files beside those folders: the entries that the exports of core name. */
const coreEntries: ReadonlyArray<string> = ["index.ts", "storage.ts", "thread.ts", "examination.ts"]

const stableEffect = ["effect", "effect/Effect", "effect/Schema", "effect/Layer", "effect/Context", "effect/testing"]
const anywhere = ["*"]

/** A folder, and the modules that its files may import. Relative imports stay inside the package. */
interface Floor {
  readonly folder: string
  /** A trailing `*` matches any ending. */
  readonly may: ReadonlyArray<string>
  /** True where clocks, randomness and the environment may be read directly. */
  readonly mayUseAmbient: boolean
}

/** The packages, from the ground up; the most specific folder of a package first. */
export const floors: ReadonlyArray<Floor> = [
  { folder: "packages/evidence/src/node/", may: ["node:*", "@noble/*"], mayUseAmbient: false },
  { folder: "packages/evidence/", may: ["@noble/*"], mayUseAmbient: false },
  {
    folder: "packages/contract/",
    may: ["@flyball/evidence/foreign-name", "@flyball/evidence/words", ...stableEffect],
    mayUseAmbient: false
  },
  { folder: "packages/envelope/", may: ["@flyball/evidence", "@flyball/evidence/words"], mayUseAmbient: false },
  { folder: "packages/statistics/", may: [], mayUseAmbient: false },
  {
    folder: "packages/rules/",
    may: ["@flyball/envelope", "@flyball/evidence", "@flyball/evidence/words", "@flyball/statistics"],
    mayUseAmbient: false
  },
  {
    folder: "packages/core/",
    may: [
      "@flyball/contract",
      "@flyball/contract/http",
      "@flyball/envelope",
      "@flyball/evidence",
      "@flyball/evidence/id",
      "@flyball/rules",
      "@flyball/statistics",
      ...stableEffect
    ],
    mayUseAmbient: false
  },
  {
    folder: "packages/storage-sql/",
    may: [
      "@flyball/core/storage",
      "@flyball/core/thread",
      "@flyball/evidence",
      "@flyball/evidence/node",
      "@flyball/evidence/node/crypto",
      "@effect/sql-pg",
      "@effect/sql-pg/*",
      "effect/sql",
      "effect/sql/*",
      "effect/reactivity",
      ...stableEffect,
      "node:*"
    ],
    mayUseAmbient: false
  },
  {
    folder: "packages/node/",
    may: [
      "@flyball/contract",
      "@flyball/core",
      "@flyball/core/storage",
      "@flyball/core/examination",
      "@flyball/evidence",
      "@flyball/evidence/node",
      "jose",
      "nodemailer/lib/smtp-connection",
      ...stableEffect,
      "node:*"
    ],
    mayUseAmbient: false
  },
  { folder: "packages/client/src/capture/file-spool.ts", may: ["node:*"], mayUseAmbient: true },
  // The clock of a process is one file; everything else is given one.
  { folder: "packages/client/src/clock.ts", may: [], mayUseAmbient: true },
  // A command: it reads its settings and starts a child process.
  {
    folder: "packages/client/src/adapters/mcp/proxy/",
    may: ["@flyball/evidence", "node:*"],
    mayUseAmbient: true
  },
  { folder: "packages/client/src/adapters/ai-sdk/", may: ["ai", "@flyball/evidence"], mayUseAmbient: false },
  {
    folder: "packages/client/src/adapters/openai-agents/",
    may: ["@openai/agents", "@flyball/evidence"],
    mayUseAmbient: false
  },
  {
    folder: "packages/client/",
    may: ["@flyball/envelope", "@flyball/evidence", "@flyball/evidence/words"],
    mayUseAmbient: false
  },
  {
    folder: "packages/testkit/",
    may: [
      "@flyball/contract",
      "@flyball/core",
      "@flyball/core/storage",
      "@flyball/core/thread",
      "@flyball/evidence",
      "@flyball/evidence/node",
      "@flyball/rules",
      "@effect/sql-pg/*",
      ...stableEffect,
      "node:*"
    ],
    mayUseAmbient: true
  },
  {
    folder: "packages/http/",
    may: [
      "@flyball/contract",
      "@flyball/contract/http",
      "@flyball/core",
      "@flyball/evidence",
      "jose",
      "effect",
      "effect/*",
      "node:*"
    ],
    mayUseAmbient: false
  },
  // Programs that read hostile bytes, and the host's end of them.
  {
    folder: "packages/platform/src/documents/reading/child/",
    may: ["@flyball/rules", "fflate", "node:*", "parse5", "postal-mime", "unpdf"],
    mayUseAmbient: false
  },
  {
    folder: "packages/platform/src/documents/reading/",
    may: ["@flyball/rules", "effect", "node:*"],
    mayUseAmbient: false
  },
  {
    folder: "packages/platform/",
    may: [
      "@flyball/contract",
      "@flyball/contract/http",
      "@flyball/core",
      "@flyball/core/storage",
      "@flyball/evidence",
      "@flyball/rules",
      "@flyball/statistics",
      "effect"
    ],
    mayUseAmbient: false
  },
  {
    folder: "apps/verify/src/page/",
    may: ["@flyball/evidence", "@flyball/evidence/web", "@flyball/envelope", "@flyball/rules"],
    mayUseAmbient: true
  },
  {
    folder: "apps/verify/",
    may: ["@flyball/evidence", "@flyball/evidence/node", "@flyball/envelope", "@flyball/rules", "node:*"],
    mayUseAmbient: true
  },
  {
    folder: "apps/server/",
    may: [
      "@flyball/contract",
      "@flyball/contract/http",
      "@flyball/core",
      "@flyball/core/storage",
      "@flyball/envelope",
      "@flyball/evidence",
      "@flyball/evidence/node",
      "@flyball/http/host",
      "@flyball/http/issuer-url",
      "@flyball/http/oidc",
      "@flyball/http/server",
      "@flyball/node",
      "@flyball/platform",
      "@flyball/rules",
      "@flyball/storage-sql",
      "@flyball/storage-sql/operations",
      "jose",
      "effect",
      "effect/*",
      "node:*"
    ],
    mayUseAmbient: true
  },
  { folder: "property-tests/", may: anywhere, mayUseAmbient: true },
  { folder: "benchmarks/", may: anywhere, mayUseAmbient: true },
  { folder: "scripts/", may: anywhere, mayUseAmbient: true }
]

/** A source file as the check reads it: its path from the root, with `/`, and its text. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** One broken rule, with its place and what to do. */
export interface Violation {
  readonly path: string
  readonly line: number
  readonly message: string
}

const importPattern =
  /(?:^|[\n;])\s*(?:import|export)\s(?:[^"';]*?\sfrom\s*)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/g
const valueImportPattern = /^\s*(?:import|export)\s+(type\s+)?([^"';]*?)\sfrom\s*["'](\.[^"']+)["']/gm
const ambientPattern = /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bprocess\.env\b/g
const skippedTestPattern = /\b(?:it|test|describe)(?:\.[a-z]+)?\.(?:skip|todo|only)\b/g

const isTest = (path: string): boolean => /\.test\.ts$|\/testing\//.test(path)
const lineOf = (text: string, index: number): number => text.slice(0, index).split("\n").length
const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name
const withoutComments = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "))
    .replace(
      /(^|[^:"'`\\])\/\/[^\n]*/g,
      (comment, before: string) => before + " ".repeat(comment.length - before.length)
    )

/** The module names a file imports, with their lines. */
export const importsOf = (text: string): ReadonlyArray<{ readonly name: string; readonly line: number }> =>
  [...withoutComments(text).matchAll(importPattern)].map((match) => ({
    name: (match[1] ?? match[2])!,
    line: lineOf(text, match.index) + (match[0].startsWith("\n") ? 1 : 0)
  }))

/** Resolves a relative import to a path from the root. */
export const resolveRelative = (from: string, name: string): string => {
  const segments = from.split("/").slice(0, -1)
  for (const segment of name.split("/")) {
    if (segment === "..") segments.pop()
    else if (segment !== ".") segments.push(segment)
  }
  return segments.join("/")
}

const packageOf = (path: string): string =>
  path
    .split("/")
    .slice(0, /^(packages|apps)\//.test(path) ? 2 : 1)
    .join("/") + "/"

/** The position of a file in the order of core; null for an entry, a test helper and files of other packages. */
const coreFloor = (path: string): number | null => {
  const folder = /^packages\/core\/src\/([^/]+)\//.exec(path)?.[1]
  if (folder === undefined || folder === "testing") return null
  return coreOrder.indexOf(folder)
}

/** A file of core that is neither in a folder of the order nor an entry. */
const checkPlaceInCore = ({ path }: SourceFile): ReadonlyArray<Violation> => {
  const place = /^packages\/core\/src\/([^/]+)/.exec(path)?.[1]
  if (place === undefined || isTest(path) || coreOrder.includes(place) || coreEntries.includes(place)) return []
  const message = `is neither an entry of core nor in one of its folders (${coreOrder.join(", ")}): move it there`
  return [{ path, line: 1, message }]
}

const checkRelative = (file: SourceFile, floor: Floor, line: number, target: string): ReadonlyArray<Violation> => {
  const at = (message: string): ReadonlyArray<Violation> => [{ path: file.path, line, message }]
  if (!target.startsWith(packageOf(file.path)) && floor.may !== anywhere) {
    return at(`imports ${target}: import another package by its name`)
  }
  if (isTest(file.path)) return []
  const node = "packages/evidence/src/node/"
  if (file.path.startsWith("packages/evidence/src/") && !file.path.startsWith(node) && target.startsWith(node)) {
    return at(`imports ${target}: the main entry of evidence runs in a browser`)
  }
  const from = coreFloor(file.path)
  const to = coreFloor(target)
  return from !== null && to !== null && to > from
    ? at(`imports ${target}: ${coreOrder[to]} is above ${coreOrder[from]} in core`)
    : []
}

const checkImports = (file: SourceFile, floor: Floor): ReadonlyArray<Violation> =>
  importsOf(file.text).flatMap(({ line, name }) => {
    if (name.startsWith(".")) return checkRelative(file, floor, line, resolveRelative(file.path, name))
    if (isTest(file.path) && !/^@flyball\/(server|verify)/.test(name)) return []
    return floor.may.some((pattern) => matches(pattern, name))
      ? []
      : [{ path: file.path, line, message: `imports ${name}, which its floor (${floor.folder}) may not` }]
  })

/** Every rule that these files break, file by file. */
export const checkFloors = (files: ReadonlyArray<SourceFile>): ReadonlyArray<Violation> =>
  files.flatMap((file) => {
    const floor = floors.find((candidate) => file.path.startsWith(candidate.folder))
    if (floor === undefined) {
      const message = "is in no known folder: add the folder to scripts/check/floors.ts"
      return [{ path: file.path, line: 1, message }]
    }
    const code = withoutComments(file.text)
    const found = (pattern: RegExp, message: string): ReadonlyArray<Violation> =>
      [...code.matchAll(pattern)].map((match) => ({
        path: file.path,
        line: lineOf(code, match.index),
        message: `${match[0]}: ${message}`
      }))
    const ambient =
      floor.mayUseAmbient || isTest(file.path)
        ? []
        : found(ambientPattern, "clocks, randomness and the environment are services below the apps")
    const skipped =
      isTest(file.path) && !file.path.startsWith("scripts/check/")
        ? found(skippedTestPattern, "no test is skipped, postponed or alone")
        : []
    return [...checkPlaceInCore(file), ...checkImports(file, floor), ...ambient, ...skipped]
  })

/**
 * The folder that counts for circles: one level below `src`, in core two; the files of a folder and its sub-folders as
 * one. Null for a file at the root of its source.
 */
const roomOf = (path: string): string | null => {
  const source = `${packageOf(path)}src`
  const inside = path
    .slice(source.length + 1)
    .split("/")
    .slice(0, -1)
  if (inside.length === 0) return null
  return [source, ...inside.slice(0, path.startsWith("packages/core/") ? 2 : 1)].join("/")
}

/**
 * Groups of folders of one package that import values from each other in a circle, as sorted lists of paths.
 *
 * A folder and its own sub-folder count as one. Imports of types and entry files (`index.ts`) do not count.
 */
export const folderCycles = (files: ReadonlyArray<SourceFile>): ReadonlyArray<ReadonlyArray<string>> => {
  const edges = new Map<string, Set<string>>()
  for (const file of files) {
    if (!/\/src\/.+\//.test(file.path) || isTest(file.path) || file.path.endsWith("/index.ts")) continue
    for (const [, type, names, target] of withoutComments(file.text).matchAll(valueImportPattern)) {
      if (type !== undefined || onlyTypes(names!)) continue
      const from = roomOf(file.path)
      const to = roomOf(resolveRelative(file.path, target!))
      if (from === null || to === null || from.startsWith(`${to}/`) || to.startsWith(`${from}/`) || from === to)
        continue
      edges.set(from, (edges.get(from) ?? new Set()).add(to))
    }
  }
  return components(edges).filter((component) => component.length > 1)
}

const onlyTypes = (names: string): boolean => {
  const list = /^\{([^]*)\}$/.exec(names.trim())?.[1]
  if (list === undefined) return false
  return list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
    .every((name) => name.startsWith("type "))
}

/** Strongly connected components, by reachability: the graphs are small. */
const components = (edges: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyArray<ReadonlyArray<string>> => {
  const reach = (from: string): ReadonlySet<string> => {
    const seen = new Set<string>()
    const visit = (node: string): void => {
      for (const next of edges.get(node) ?? []) {
        if (seen.has(next)) continue
        seen.add(next)
        visit(next)
      }
    }
    visit(from)
    return seen
  }
  const reached = new Map([...edges.keys()].map((node) => [node, reach(node)]))
  const found = new Map<string, ReadonlyArray<string>>()
  for (const [node, all] of reached) {
    const group = [node, ...[...all].filter((other) => other !== node && reached.get(other)?.has(node))].sort()
    found.set(group.join(" "), group)
  }
  return [...found.values()]
}

/**
 * The files that `entry` reaches, and the outside modules they import. Workspace packages are followed through
 * `entries`.
 */
export const closureOf = (
  files: ReadonlyMap<string, string>,
  entry: string,
  entries: ReadonlyMap<string, string>
): { readonly paths: ReadonlyArray<string>; readonly modules: ReadonlyArray<string> } => {
  const paths = new Set<string>()
  const modules = new Set<string>()
  const visit = (path: string): void => {
    if (paths.has(path)) return
    paths.add(path)
    for (const { name } of importsOf(files.get(path) ?? "")) {
      const target = name.startsWith(".") ? resolveRelative(path, name) : entries.get(name)
      if (target === undefined) modules.add(name)
      else visit(target)
    }
  }
  visit(entry)
  return { paths: [...paths], modules: [...modules].sort() }
}
