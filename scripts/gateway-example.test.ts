/** The example of the gateway, run from the workspace as its README says. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, it } from "vitest"

it("examples/gateway-openai shows a passed, a refused and a halted answer, and what is on record", async () => {
  const cwd = fileURLToPath(new URL("../examples/gateway-openai", import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ["agent.mjs"], { cwd })
  const lines = stdout.trimEnd().split("\n")
  assert.deepStrictEqual(
    lines.map((line) => line.split(", says")[0]),
    [
      "get_order: tool_calls, calls [get_order]",
      "refund: stop, calls []",
      "wait: content_filter, calls []",
      "get_order: 403 gateway_halted",
      lines[4],
      "on record: model_call small-1 ok (mediated)",
      "on record: tool_call get_order intended (mediated)",
      "on record: model_call small-1 ok (mediated)",
      "on record: tool_call refund denied (mediated)",
      "on record: model_call small-1 denied (mediated)"
    ]
  )
  assert.match(lines[1]!, /The tool call refund was refused/)
  assert.match(lines[4]!, /^tokens used: \d+$/)
}, 60_000)
