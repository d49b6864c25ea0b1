/** Runs of an agent, for tests of behaviour. */
import { Effect } from "effect"
import { Capture } from "../../../verdicts/capture/service.ts"
import { key } from "../../../verdicts/evaluations/testing/refunds.ts"

/** Witnesses runs of five decisions: each action of `tools` in turn. `prefix` names the runs. */
export const witnessRuns = Effect.fnUntraced(function* (
  agentId: string,
  runs: number,
  tools: ReadonlyArray<string>,
  prefix: string
) {
  return yield* (yield* Capture).witness(
    agentId,
    Array.from({ length: runs * 5 }, (_, at) => ({
      client_ref: `${prefix}${at}`,
      kind: "tool_call" as const,
      action: tools[(at * 7 + Math.floor(at / 5)) % tools.length]!,
      run_id: `${prefix}${Math.floor(at / 5)}`,
      status: "intended" as const
    })),
    key
  )
})

/** An agent that searches and pays, and then deletes as well: it raises an alarm. */
export const changedRuns = (agentId: string) =>
  Effect.andThen(
    witnessRuns(agentId, 60, ["search", "pay", "read"], "a"),
    witnessRuns(agentId, 40, ["search", "pay", "delete"], "b")
  )
