/** Which test files `npm run test:long` and `npm run test:quick` run: found by what they import, in no list by hand. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"

const importing = /^(?:import|export)\b[^"]*?from "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm

/** Names of the modules that a source imports. */
export const importsOf = (source: string): ReadonlyArray<string> =>
  [...source.matchAll(importing)].map(([, from, bare, dynamic]) => (from ?? bare ?? dynamic)!)

/** Modules that a test of the edit loop must not load: a database, processes of its own. */
const slow = ["@flyball/testkit/postgres", "node:child_process"]

/** True when a test file or a helper of tests that it reaches loads Postgres, starts processes or replaces modules. */
export const startsSomething = (file: string, seen = new Set<string>()): boolean => {
  if (seen.has(file) || !existsSync(file)) return false
  seen.add(file)
  const source = readFileSync(file, "utf8")
  return (
    source.includes("FLYBALL_TEST_PG_URL") ||
    source.includes("vi.mock(") ||
    importsOf(source).some(
      (name) => slow.includes(name) || (name.startsWith(".") && startsSomething(resolve(dirname(file), name), seen))
    )
  )
}

/** Test files that repeat more in the long round: those that import `property-tests/src/runs.ts`. */
export const longFiles = (root: string): ReadonlyArray<string> =>
  globSync("property-tests/src/**/*.test.ts", { cwd: root })
    .filter((file) =>
      importsOf(readFileSync(join(root, file), "utf8")).some(
        (name) => relative(root, resolve(root, dirname(file), name)) === "property-tests/src/runs.ts"
      )
    )
    .sort()

/** Where tests are. */
const testFiles = [
  "packages/*/src/**/*.test.ts",
  "apps/*/src/**/*.test.ts",
  "property-tests/src/**/*.test.ts",
  "scripts/**/*.test.ts"
]

/**
 * Test files by what a process is to have in common with those of other files: `alone` replaces modules; `starting`
 * starts processes, which takes the longer the more memory its own has; `quiet` does neither.
 */
export const filesByProcess = (
  root: string
): { readonly [kind in "alone" | "quiet" | "starting"]: ReadonlyArray<string> } => {
  const files = globSync(testFiles, { cwd: root }).filter((file) => !/[/]slow-[^/]*$/.test(file))
  const kindOf = (file: string) =>
    readFileSync(join(root, file), "utf8").includes("vi.mock(")
      ? "alone"
      : startsSomething(join(root, file))
        ? "starting"
        : "quiet"
  return { alone: [], quiet: [], starting: [], ...Object.groupBy(files, kindOf) }
}

/** Tests beside the files of packages and apps that share a process: no Postgres, no modules of their own. */
export const quickFiles = (root: string): ReadonlyArray<string> =>
  filesByProcess(root)
    .quiet.filter((file) => /^(packages|apps)[/]/.test(file))
    .sort()
