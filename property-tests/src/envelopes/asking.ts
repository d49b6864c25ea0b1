/** Layers made ready, and evaluated on inputs that some of them may not have. */
import { compile } from "../../../packages/envelope/src/compile/compile.ts"
import { outcomes } from "../../../packages/envelope/src/language/compiled.ts"
import { decide, prepare, type Ready } from "../../../packages/envelope/src/decide/decide.ts"
import type { Decision } from "../../../packages/envelope/src/decide/decision.ts"
import type { Envelope } from "../../../packages/envelope/src/language/envelope.ts"
import { readEnvelope } from "../../../packages/envelope/src/language/read-envelope.ts"
import type { EnvelopeJson, LayerInputs } from "./arbitrary.ts"

/** An envelope that was repaired: its only fault is a tool without a class. */
export const readLayer = (json: EnvelopeJson): Envelope => {
  const { envelope } = readEnvelope(json)
  if (envelope === null) throw new Error(JSON.stringify(readEnvelope(json).findings))
  return envelope
}

/** Null where the layers do not fit together. */
export const readyOf = (layers: ReadonlyArray<Envelope>): Ready | null => {
  const { combination } = compile(layers)
  return combination === null ? null : prepare(combination)
}

/** Asks about the values that these layers declare. */
export const askLayers = (one: Ready, { count, missing, spent, ...values }: LayerInputs): Decision => {
  const given = (from: "caller" | "server") =>
    Object.fromEntries(
      one.combination.signals.flatMap(({ name, source }) =>
        source === from && !missing.includes(name) ? [[name, values[name as keyof typeof values]]] : []
      )
    )
  return decide(
    one,
    { signals: given("caller"), runId: null },
    {
      kill: "none",
      agent: { id: "agt", orgUnit: "fin", isActive: true },
      server: given("server"),
      latches: new Set(),
      approved: false,
      windows: () => ({ value: spent, count })
    }
  )
}

/** How severe a decision is; of no layers that fit, a denial. */
export const severityOf = (decision: Decision): number => outcomes.indexOf(decision.outcome)
export const DENY = outcomes.indexOf("deny")
