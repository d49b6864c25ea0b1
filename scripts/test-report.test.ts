import { assert, describe, it } from "@effect/vitest"
import { countTests, diedOf, joined, settledOf } from "./test-report.ts"

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

  it("never says that nothing failed when the run ended badly", () => {
    assert.deepEqual(countTests(report, 1), { passed: 7, failed: 1 })
    assert.deepEqual(countTests(null, 0), { passed: 0, failed: 1 })
  })
})

describe("a file whose process a signal ended", () => {
  const died = {
    message: "[vitest-pool]: Worker forks emitted error.",
    cause: {
      message:
        "Worker exited unexpectedly with signal SIGSEGV during started state while running test file /x y/b.test.ts"
    }
  }

  it("is told apart from other errors of a run", () => {
    assert.deepEqual(diedOf([died, died, { cause: { message: "boom" } }, {}, { cause: null }]), {
      files: ["/x y/b.test.ts"],
      others: 3
    })
    assert.deepEqual(
      diedOf([
        {
          cause: {
            message: "Worker exited unexpectedly with code 1 during started state while running test file /b.test.ts"
          }
        }
      ]),
      { files: [], others: 1 }
    )
  })

  it("is not told apart where something else killed it", () => {
    for (const signal of ["SIGKILL", "SIGABRT", "SIGTERM"])
      assert.deepEqual(
        diedOf([
          {
            cause: {
              message:
                `Worker exited unexpectedly with signal ${signal} during started state while running ` +
                "test file /b.test.ts"
            }
          }
        ]),
        { files: [], others: 1 }
      )
  })

  it("gives way to what its next run says, but for the tests that had failed, and nothing else does", () => {
    const of = (name: string, ...statuses: ReadonlyArray<string>) => ({
      name,
      status: "failed",
      assertionResults: statuses.map((status) => ({ status }))
    })
    const counts = { numPassedTests: 9, numFailedTests: 9, numPendingTests: 9, numTodoTests: 9 }
    const again = settledOf(
      { ...counts, testResults: [of("/b", "passed", "passed")].map((file) => ({ ...file, status: "passed" })) },
      []
    )
    const countOf = (...files: ReadonlyArray<ReturnType<typeof of>>) =>
      countTests(joined(settledOf({ ...counts, testResults: files }, ["/b"]), again), 0)
    assert.deepEqual(countOf(of("/a", "passed", "failed", "pending"), of("/b", "passed", "todo")), {
      passed: 3,
      failed: 2
    })
    assert.deepEqual(countOf(of("/b", "passed", "failed", "todo")), { passed: 2, failed: 1 })
    // What goes after the tests of /a threw.
    assert.deepEqual(countOf(of("/a", "passed"), of("/b", "passed")), { passed: 3, failed: 1 })
  })
})
