import { assert, describe, it } from "@effect/vitest"
import { countTests, failureLines } from "./test-report.ts"

const report = {
  numPassedTests: 7,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [{ name: "/a.test.ts", status: "passed", assertionResults: [{ status: "passed" }] }]
}

describe("the last line of npm test", () => {
  it("counts what vitest counted", () => {
    assert.deepEqual(countTests(report, 0), { passed: 7, failed: 0 })
    assert.deepEqual(countTests({ ...report, numFailedTests: 2 }, 1), { passed: 7, failed: 2 })
  })

  it("counts tests that did not run as failed", () => {
    assert.deepEqual(countTests({ ...report, numPendingTests: 1, numTodoTests: 2 }, 0), { passed: 7, failed: 3 })
  })

  it("counts a file that could not be loaded once", () => {
    const testResults = [
      { name: "/a.test.ts", status: "failed", assertionResults: [] },
      { name: "/b.test.ts", status: "failed", assertionResults: [{ status: "failed" }] }
    ]
    assert.deepEqual(countTests({ ...report, numFailedTests: 1, testResults }, 1), { passed: 7, failed: 2 })
  })

  it("never reports success when the run ended with an error", () => {
    assert.deepEqual(countTests(report, 1), { passed: 7, failed: 1 })
    assert.deepEqual(countTests(null, 0), { passed: 0, failed: 1 })
  })
})

describe("the lines before it", () => {
  it("name what failed or did not run, file by file", () => {
    const failed = { status: "failed", fullName: "a sum is right", failureMessages: ["expected 1\n  at x.ts"] }
    const testResults = [
      { name: "/r/a.test.ts", status: "failed", assertionResults: [{ status: "passed" }, failed] },
      { name: "/r/b.test.ts", status: "failed", message: "Cannot find c.ts", assertionResults: [] },
      { name: "/r/d.test.ts", status: "passed", assertionResults: [{ status: "pending", fullName: "later" }] }
    ]
    assert.deepEqual(failureLines({ ...report, testResults }, "/r"), [
      "FAILED a.test.ts > a sum is right: expected 1",
      "FAILED b.test.ts: Cannot find c.ts",
      "FAILED d.test.ts > later: pending"
    ])
    assert.deepEqual(failureLines(report, "/r"), [])
    assert.deepEqual(failureLines(null, "/r"), [])
  })
})
