/**
 * `npm test`: starts Postgres once (or uses `FLYBALL_TEST_PG_URL`), runs vitest with whatever arguments follow, stops
 * Postgres.
 *
 * Where a signal ends the process of a test file, that file runs again, three times at most, and this says so: V8 of
 * Node 24 has ended some in which threads start and end (vitest.config.ts says why).
 * A test that failed has failed, whatever it does when its file runs again.
 *
 * The last line is always `N passed, N failed`; the exit status is 0 when nothing failed.
 */
import { startPostgres } from "@flyball/testkit/postgres"
import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Died, VitestReport } from "./test-report.ts"
import { countTests, joined, settledOf } from "./test-report.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")

/** Times that files are run again whose process a signal ended. */
const MOST_AGAIN = 3

/** How a run ended. */
interface Run {
  readonly status: number
  /** Null where none was written. */
  readonly report: VitestReport | null
  readonly died: Died
}

/** Runs vitest once. */
const runVitest = async (args: ReadonlyArray<string>, databaseUrl: string, folder: string): Promise<Run> => {
  const outputFile = join(folder, "report.json")
  const diedFile = join(folder, "died.json")
  await Promise.all([outputFile, diedFile].map((file) => rm(file, { force: true })))
  const child = spawn(
    process.execPath,
    [
      vitest,
      "run",
      ...args,
      "--reporter=default",
      "--reporter=json",
      "--reporter=./scripts/died-reporter.ts",
      `--outputFile.json=${outputFile}`
    ],
    {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, FLYBALL_TEST_PG_URL: databaseUrl, FLYBALL_TEST_DIED_FILE: diedFile }
    }
  )
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal)
  }
  process.on("SIGINT", forward).on("SIGTERM", forward)
  const status = await new Promise<number>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code) => resolve(code ?? 1))
  })
  process.off("SIGINT", forward).off("SIGTERM", forward)
  const read = <A>(file: string): Promise<A | null> =>
    readFile(file, "utf8").then(
      (text) => JSON.parse(text) as A,
      () => null
    )
  return {
    status,
    report: await read<VitestReport>(outputFile),
    died: (await read<Died>(diedFile)) ?? { files: [], others: 0 }
  }
}

/** Runs vitest, and again those files whose process a signal ended. */
const runAll = async (
  args: ReadonlyArray<string>,
  databaseUrl: string,
  folder: string
): Promise<Pick<Run, "report" | "status">> => {
  let { died, report, status } = await runVitest(args, databaseUrl, folder)
  for (let again = 0; died.files.length > 0 && report !== null && again < MOST_AGAIN; again++) {
    console.log(
      `A signal ended the process of ${died.files.length} test file${died.files.length === 1 ? "" : "s"}: ` +
        `${died.files.join(", ")}. Once more:`
    )
    const rest = settledOf(report, died.files)
    const others = died.others
    const next = await runVitest(died.files, databaseUrl, folder)
    report = next.report === null ? null : joined(rest, next.report)
    status = Math.max(others, next.status)
    died = { files: next.died.files, others: others + next.died.others }
  }
  return { status, report }
}

const main = async (): Promise<number> => {
  const folder = await mkdtemp(join(tmpdir(), "flyball-test-"))
  try {
    const postgres = await startPostgres()
    try {
      const { status, report } = await runAll(process.argv.slice(2), postgres.url, folder)
      const { passed, failed } = countTests(report, status)
      console.log(`${passed} passed, ${failed} failed`)
      return failed === 0 ? 0 : 1
    } finally {
      await postgres.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
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
