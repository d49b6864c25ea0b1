/** Reading vitest's JSON report. */

/** The members of the report that are read. */
export interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string }>
  }>
}

/** Files whose process a signal ended, and how many other errors a run had outside of tests. */
export interface Died {
  readonly files: ReadonlyArray<string>
  readonly others: number
}

/** The two that V8 ends a process with of itself. One that was killed, or had no memory left, is a failure. */
const death = /Worker exited unexpectedly with signal SIG(?:SEGV|TRAP) .*while running test file (.+)$/

/** Tells the errors of a run apart. */
export const diedOf = (errors: ReadonlyArray<{ readonly cause?: unknown }>): Died => {
  const files = errors.flatMap(
    ({ cause }) => death.exec(String((cause as { readonly message?: unknown } | null | undefined)?.message))?.[1] ?? []
  )
  return { files: [...new Set(files)], others: errors.length - files.length }
}

/**
 * What a report says whatever the next run of these files will say: all of the others, and of these the tests that
 * failed before their process ended.
 */
export const settledOf = (report: VitestReport, files: ReadonlyArray<string>): VitestReport => {
  const testResults = report.testResults.flatMap((file) => {
    if (!files.includes(file.name)) return [file]
    const failed = file.assertionResults.filter(({ status }) => status === "failed")
    return failed.length === 0 ? [] : [{ ...file, assertionResults: failed }]
  })
  const count = (...statuses: ReadonlyArray<string>): number =>
    testResults.reduce(
      (sum, { assertionResults }) => sum + assertionResults.filter(({ status }) => statuses.includes(status)).length,
      0
    )
  return {
    testResults,
    numPassedTests: count("passed"),
    numFailedTests: count("failed"),
    numPendingTests: count("pending", "skipped", "disabled"),
    numTodoTests: count("todo")
  }
}

/** Two reports as one. */
export const joined = (one: VitestReport, other: VitestReport): VitestReport => ({
  testResults: [...one.testResults, ...other.testResults],
  numPassedTests: one.numPassedTests + other.numPassedTests,
  numFailedTests: one.numFailedTests + other.numFailedTests,
  numPendingTests: one.numPendingTests + other.numPendingTests,
  numTodoTests: one.numTodoTests + other.numTodoTests
})

/**
 * How many tests passed and failed.
 *
 * A file that failed though no test of it did (it could not be loaded, or what goes before or after its tests threw)
 * counts as one failure, a test that did not run as a failure too (nothing is skipped here), and so does a run
 * that ended badly although every test passed: an error outside any test, or no report at all.
 */
export const countTests = (
  report: VitestReport | null,
  status: number
): { readonly passed: number; readonly failed: number } => {
  if (report === null) return { passed: 0, failed: 1 }
  const broken = report.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.every(({ status }) => status !== "failed")
  ).length
  const failed = report.numFailedTests + report.numPendingTests + report.numTodoTests + broken
  return { passed: report.numPassedTests, failed: failed === 0 && status !== 0 ? 1 : failed }
}
