/**
 * `npm test`: starts Postgres once (or uses `FLYBALL_TEST_PG_URL`), runs vitest with whatever arguments follow, stops
 * Postgres. The first argument may choose another run:
 *
 * - `--long` (`npm run test:long`): the files that import `property-tests/src/runs.ts`, in their full round.
 * - `--quick` (`npm run test:quick`): tests of packages and apps that need neither Postgres nor a process of their own.
 *   Files share a process and its modules.
 * - `--all` (`npm run test:all`, as `.ci/run`): everything as `npm test` does, then the long run; the counts are sums.
 *
 * Failures are printed in full and then once more, a line each, before the last line. The last line is always
 * `N passed, N failed`; the exit status is 0 when nothing failed. No file runs twice: a process that a signal ends is a
 * failure. A run of minutes prints a line a minute. Stores of tests lie in memory where the system has a file system
 * for that: a third of the time of a run was waiting for disks, which no test is about.
 */
import { startPostgres } from "@flyball/testkit/postgres"
import { spawn } from "node:child_process"
import { mkdir, mkdtemp, readFile, rm, statfs } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { joinProgram } from "./build/join.ts"
import { programs } from "./build/programs.ts"
import type { VitestReport } from "./test-report.ts"
import { longFiles, quickFiles } from "./test-files.ts"
import { countTests, failureLines } from "./test-report.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")

/** Runs vitest once. The report is null where none was written. */
const runVitest = async (
  args: ReadonlyArray<string>,
  variables: { readonly [name: string]: string },
  folder: string
): Promise<{ readonly status: number; readonly report: VitestReport | null }> => {
  const outputFile = join(folder, "report.json")
  await rm(outputFile, { force: true })
  const child = spawn(
    process.execPath,
    [vitest, "run", ...args, "--reporter=minimal", "--reporter=json", `--outputFile.json=${outputFile}`],
    { cwd: root, stdio: "inherit", env: { ...process.env, ...variables } }
  )
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal)
  }
  process.on("SIGINT", forward).on("SIGTERM", forward)
  let minutes = 0
  const progress = setInterval(() => console.log(`Tests have run for ${++minutes} min.`), 60_000)
  const status = await new Promise<number>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code) => resolve(code ?? 1))
  })
  clearInterval(progress)
  process.off("SIGINT", forward).off("SIGTERM", forward)
  const report = await readFile(outputFile, "utf8").then(
    (text) => JSON.parse(text) as VitestReport,
    () => null
  )
  return { status, report }
}

/** The runs that the arguments ask for, one after the other. */
const runsOf = (
  args: ReadonlyArray<string>
): ReadonlyArray<{ readonly args: ReadonlyArray<string>; readonly isLong: boolean }> => {
  const [mode, ...rest] = args
  const normal = { args: rest, isLong: false }
  const long = () => ({ args: [...(rest.some(isPath) ? [] : longFiles(root)), ...rest], isLong: true })
  switch (mode) {
    case "--all":
      return [normal, long()]
    case "--long":
      return [long()]
    case "--quick":
      return [{ args: ["--no-isolate", ...quickFiles(root), ...rest], isLong: false }]
    default:
      return [{ args, isLong: false }]
  }
}

/** A file or folder to run, not an option of vitest. */
const isPath = (argument: string): boolean => !argument.startsWith("-")

/**
 * Joins the programs that tests of commands start. Not in a temporary folder of mode 0700: tests start them as other
 * accounts too.
 */
const joinPrograms = async (folder: string): Promise<void> => {
  for (const program of programs) {
    const made = join(folder, program.app.slice("apps/".length))
    await mkdir(made, { recursive: true })
    await joinProgram(program, made, root)
  }
}

const IN_MEMORY = "/dev/shm"
/** The stores of a run take less. Unit: bytes. */
const ENOUGH_BYTES = 4 * 1_024 ** 3

/** Lets temporary folders lie in memory, unless the caller chose where they lie. */
const useMemory = async (): Promise<void> => {
  if (process.env["TMPDIR"] !== undefined) return
  const free = await statfs(IN_MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0
  )
  if (free >= ENOUGH_BYTES) process.env["TMPDIR"] = IN_MEMORY
}

const main = async (): Promise<number> => {
  const args = process.argv.slice(2)
  await useMemory()
  // Not in `.cache`: a program that ran before made that readable for its own account alone.
  const joined = join(root, "node_modules", `.flyball-test-programs-${process.pid}`)
  const folder = await mkdtemp(join(tmpdir(), "flyball-test-"))
  try {
    const isQuick = args[0] === "--quick"
    if (!isQuick) await joinPrograms(joined)
    const postgres = isQuick ? null : await startPostgres()
    try {
      let [passed, failed] = [0, 0]
      const failures: Array<string> = []
      for (const run of runsOf(args)) {
        const { status, report } = await runVitest(
          run.args,
          {
            ...(postgres === null ? {} : { FLYBALL_TEST_PG_URL: postgres.url, FLYBALL_TEST_PROGRAMS: joined }),
            FLYBALL_TEST_LONG: run.isLong ? "1" : ""
          },
          folder
        )
        const counts = countTests(report, status)
        passed += counts.passed
        failed += counts.failed
        failures.push(...failureLines(report, root))
      }
      for (const line of failures) console.log(line)
      console.log(`${passed} passed, ${failed} failed`)
      return failed === 0 ? 0 : 1
    } finally {
      await postgres?.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
    await rm(joined, { recursive: true, force: true })
  }
}

main().then(
  (status) => {
    process.exitCode = status
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    console.log("0 passed, 1 failed")
    process.exitCode = 1
  }
)
