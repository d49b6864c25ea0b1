/**
 * The import floors of the workspace as data, and a pure function that holds source files against them.
 *
 * Spec: design section 2. Imports go down only; `npm run check` enforces it.
 */

/** A source file as the check sees it: its path from the root, with `/`, and its text. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** One broken rule, with where it is and what to do. */
export interface Violation {
  readonly path: string
  readonly line: number
  readonly message: string
}

interface Floor {
  readonly folder: string
  /** Module names that may be imported; a trailing `*` matches any ending. Relative imports stay inside the folder. */
  readonly may: ReadonlyArray<string>
  /** Whether clocks, randomness and the environment may be read directly. */
  readonly touchesTheWorld: boolean
}

const stableEffect = ["effect", "effect/Effect", "effect/Schema", "effect/Layer", "effect/Context", "effect/testing"]
const anywhere = ["*"]

/** The floors, most specific folder first. */
export const floors: ReadonlyArray<Floor> = [
  { folder: "packages/evidence/src/node/", may: ["node:*", "@noble/*"], touchesTheWorld: false },
  { folder: "packages/evidence/", may: ["@noble/*"], touchesTheWorld: false },
  { folder: "packages/contract/", may: stableEffect, touchesTheWorld: false },
  { folder: "packages/core/", may: ["@flyball/evidence", "@flyball/evidence/id", "@flyball/contract", ...stableEffect], touchesTheWorld: false },
  {
    folder: "packages/storage-sql/",
    may: ["@flyball/core/options", "@flyball/core/outbox", "@flyball/core/refold", "@flyball/core/storage", "@flyball/evidence", "@flyball/evidence/node", "@effect/sql-pg", "@effect/sql-pg/*", "effect/sql", "effect/sql/*", "effect/reactivity", ...stableEffect, "node:*"],
    touchesTheWorld: false
  },
  {
    folder: "packages/node/",
    may: ["@flyball/core", "@flyball/core/examination", "@flyball/core/options", "@flyball/core/storage", "@flyball/contract", "@flyball/evidence", "@flyball/evidence/node", "jose", "nodemailer/lib/smtp-connection", ...stableEffect, "node:*"],
    touchesTheWorld: false
  },
  {
    folder: "packages/testkit/",
    may: ["@flyball/core", "@flyball/core/recompute", "@flyball/core/storage", "@flyball/contract", "@flyball/evidence", "@flyball/evidence/node", "@effect/sql-pg/*", ...stableEffect, "node:*"],
    touchesTheWorld: true
  },
  { folder: "apps/verify/", may: ["@flyball/evidence", "@flyball/evidence/node", "@flyball/core/recompute", "@flyball/core/replay", "node:*"], touchesTheWorld: true },
  {
    folder: "apps/server/",
    may: ["@flyball/core", "@flyball/core/*", "@flyball/contract", "@flyball/contract/http", "@flyball/evidence", "@flyball/evidence/node", "@flyball/node", "@flyball/storage-sql", "@flyball/storage-sql/operations", "jose", "effect", "effect/*", "node:*"],
    touchesTheWorld: true
  },
  { folder: "property-tests/", may: anywhere, touchesTheWorld: true },
  { folder: "benchmarks/", may: anywhere, touchesTheWorld: true },
  { folder: "scripts/", may: anywhere, touchesTheWorld: true }
]

const importPattern = /(?:^|[\n;])\s*(?:import|export)\s(?:[^"';]*?\sfrom\s*)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/g
const worldPattern = /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bprocess\.env\b/g
const skippedTestPattern = /\b(?:it|test|describe)(?:\.[a-z]+)?\.(?:skip|todo|only)\b/g

const isTest = (path: string): boolean => /\.test\.ts$|\/testing\//.test(path)
const lineOf = (text: string, index: number): number => text.slice(0, index).split("\n").length
const matches = (pattern: string, name: string): boolean => pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name
const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " ")).replace(/(^|[^:"'`\\])\/\/[^\n]*/g, (comment, before: string) => before + " ".repeat(comment.length - before.length))

/** The module names a file imports, with their lines. */
export const importsOf = (text: string): ReadonlyArray<{ readonly name: string; readonly line: number }> =>
  [...withoutComments(text).matchAll(importPattern)].map((match) => ({ name: (match[1] ?? match[2])!, line: lineOf(text, match.index) + (match[0].startsWith("\n") ? 1 : 0) }))

/** Resolves a relative import to a path from the root. */
export const resolveRelative = (from: string, name: string): string => {
  const segments = from.split("/").slice(0, -1)
  for (const segment of name.split("/")) {
    if (segment === "..") segments.pop()
    else if (segment !== ".") segments.push(segment)
  }
  return segments.join("/")
}

const packageOf = (path: string): string => path.split("/").slice(0, /^(packages|apps)\//.test(path) ? 2 : 1).join("/") + "/"

const inRules = (path: string): boolean => /^packages\/core\/src\/.*\/rules\//.test(path)

const checkImports = (file: SourceFile, floor: Floor): ReadonlyArray<Violation> =>
  importsOf(file.text).flatMap(({ line, name }) => {
    if (name.startsWith(".")) {
      const target = resolveRelative(file.path, name)
      if (!target.startsWith(packageOf(file.path)) && floor.may !== anywhere) return [{ path: file.path, line, message: `imports ${target}: another package is imported by its name` }]
      if (file.path.startsWith("packages/evidence/src/") && !isTest(file.path) && !file.path.startsWith("packages/evidence/src/node/") && target.startsWith("packages/evidence/src/node/")) {
        return [{ path: file.path, line, message: `imports ${target}: the main entry of evidence runs in a browser` }]
      }
      if (inRules(file.path) && !isTest(file.path) && !inRules(target)) return [{ path: file.path, line, message: `imports ${target}: rules import only evidence and each other` }]
      return []
    }
    if (isTest(file.path) && !/^@flyball\/(server|verify)/.test(name)) return []
    if (inRules(file.path) && name !== "@flyball/evidence") return [{ path: file.path, line, message: `imports ${name}: rules import only evidence and each other` }]
    return floor.may.some((pattern) => matches(pattern, name)) ? [] : [{ path: file.path, line, message: `imports ${name}, which its floor (${floor.folder}) may not` }]
  })

/** Every rule that these files break. */
export const checkFloors = (files: ReadonlyArray<SourceFile>): ReadonlyArray<Violation> =>
  files.flatMap((file) => {
    const floor = floors.find((candidate) => file.path.startsWith(candidate.folder))
    if (floor === undefined) return [{ path: file.path, line: 1, message: "stands on no floor: add its folder to scripts/check/floors.ts" }]
    const code = withoutComments(file.text)
    const world = floor.touchesTheWorld || isTest(file.path) ? [] : [...code.matchAll(worldPattern)].map((match) => ({
      path: file.path, line: lineOf(code, match.index), message: `uses ${match[0]}: clocks, randomness and the environment are services below the apps`
    }))
    const skipped = isTest(file.path) && !file.path.startsWith("scripts/check/") ? [...code.matchAll(skippedTestPattern)].map((match) => ({
      path: file.path, line: lineOf(code, match.index), message: `${match[0]}: no test is skipped, postponed or alone`
    })) : []
    return [...checkImports(file, floor), ...world, ...skipped]
  })

/** The files that `entry` reaches, and the outside modules they import. Workspace packages are followed through `entries`. */
export const closureOf = (files: ReadonlyMap<string, string>, entry: string, entries: ReadonlyMap<string, string>): { readonly paths: ReadonlyArray<string>; readonly modules: ReadonlyArray<string> } => {
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
