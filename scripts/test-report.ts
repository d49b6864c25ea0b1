/** Reading vitest's JSON report. */

/** The members of the report that are read. */
export interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: ReadonlyArray<{ readonly name: string; readonly status: string; readonly assertionResults: ReadonlyArray<{ readonly status: string }> }>
}

/** Files whose process a signal ended, and how many other errors a run had outside of tests. */
export interface Died {
  readonly files: ReadonlyArray<string>
  readonly others: number
}

const death = /Worker exited unexpectedly with signal SIG\w+ .*while running test file (.+)$/

/** Tells the errors of a run apart. */
export const diedOf = (errors: ReadonlyArray<{ readonly cause?: unknown }>): Died => {
  const files = errors.flatMap(({ cause }) => death.exec(String((cause as { readonly message?: unknown } | null | undefined)?.message))?.[1] ?? [])
  return { files: [...new Set(files)], others: errors.length - files.length }
}

/** A report without what it says of these files. */
export const withoutFiles = (report: VitestReport, files: ReadonlyArray<string>): VitestReport => {
  const testResults = report.testResults.filter(({ name }) => !files.includes(name))
  const count = (...statuses: ReadonlyArray<string>): number => testResults.reduce((sum, { assertionResults }) => sum + assertionResults.filter(({ status }) => statuses.includes(status)).length, 0)
  return { testResults, numPassedTests: count("passed"), numFailedTests: count("failed"), numPendingTests: count("pending", "skipped", "disabled"), numTodoTests: count("todo") }
}

/** Two reports of different files as one. */
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
 * A file that could not be loaded counts as one failure, a test that did not run as a failure too (nothing is skipped here), and so does a run
 * that ended badly although every test passed: an error outside any test, or no report at all.
 */
export const countTests = (report: VitestReport | null, status: number): { readonly passed: number; readonly failed: number } => {
  if (report === null) return { passed: 0, failed: 1 }
  const broken = report.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0).length
  const failed = report.numFailedTests + report.numPendingTests + report.numTodoTests + broken
  return { passed: report.numPassedTests, failed: failed === 0 && status !== 0 ? 1 : failed }
}
