/** The port by which tool servers take part in capture: it follows lists of tools that are witnessed. */
import type { DecisionIn } from "@flyball/contract"
import { Context, Effect } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import type { ReadFault } from "../../storage/port.ts"

/** A witnessed list of tools. */
export interface WitnessedToolList {
  readonly agentId: string
  readonly decisionId: string
  readonly seq: number
  readonly decision: DecisionIn
}

/** Port of what follows when lists of tools are witnessed. Repeats are witnessed again, and change nothing. */
export const ToolLists = Context.Reference<{
  readonly witnessed: (list: WitnessedToolList, writer: Writer) => Effect.Effect<void, ReadFault>
}>("flyball/core/ToolLists", { defaultValue: () => ({ witnessed: () => Effect.void }) })
