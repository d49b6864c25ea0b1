/** The tools that the suite gives to a framework, and what they did. */
import type { TestCall, TestTool } from "./conformance.ts"

/** Calls that the tools of a case ran. */
export interface Deeds {
  readonly ran: Array<string>
  /** Replaces what a tool does, by its name. */
  readonly instead: Map<string, TestTool["run"]>
}

/** Tools that write down that they ran: `refund 5`. The tool `fail` fails. */
export const toolsOf = (deeds: Deeds): ReadonlyArray<TestTool> =>
  ["lookup", "refund", "fail", "delegate"].map((name) => ({
    name,
    run: async (input, signal) => {
      deeds.ran.push(input["amount"] === undefined ? name : `${name} ${String(input["amount"])}`)
      const instead = deeds.instead.get(name)
      if (instead !== undefined) return instead(input, signal)
      if (name === "fail") throw new Error("no such order")
      return `${name} done ${String(input["amount"] ?? "")}`.trimEnd()
    }
  }))

/** A call that the mock model asks for. */
export const callOf = (tool: string, input: TestCall["input"] = {}): TestCall => ({ tool, input })
