/**
 * `npm test`: starts Postgres once (or uses `FLYBALL_TEST_PG_URL`), runs vitest with whatever arguments follow, stops
 * Postgres.
 *
 * The last line is always `N passed, N failed`; the exit status is 0 when nothing failed. No file runs twice: a process
 * that a signal ends is a failure.
 */
import { startPostgres } from "@flyball/testkit/postgres"
import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { VitestReport } from "./test-report.ts"
import { countTests } from "./test-report.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs")

/** Runs vitest once. The report is null where none was written. */
const runVitest = async (
  args: ReadonlyArray<string>,
  databaseUrl: string,
  folder: string
): Promise<{ readonly status: number; readonly report: VitestReport | null }> => {
  const outputFile = join(folder, "report.json")
  const child = spawn(
    process.execPath,
    [vitest, "run", ...args, "--reporter=default", "--reporter=json", `--outputFile.json=${outputFile}`],
    { cwd: root, stdio: "inherit", env: { ...process.env, FLYBALL_TEST_PG_URL: databaseUrl } }
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
  const report = await readFile(outputFile, "utf8").then(
    (text) => JSON.parse(text) as VitestReport,
    () => null
  )
  return { status, report }
}

const main = async (): Promise<number> => {
  const folder = await mkdtemp(join(tmpdir(), "flyball-test-"))
  try {
    const postgres = await startPostgres()
    try {
      const { status, report } = await runVitest(process.argv.slice(2), postgres.url, folder)
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
