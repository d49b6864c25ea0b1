import type { Inspection } from "../inspection.ts"
import { boxesOf } from "../../cells/model.ts"
import { severityOf } from "../../cells/ranking.ts"

/**
 * W201: inputs that the envelope's default decides, because no rule of it holds and no outer layer is as restrictive.
 * An error where `coverage` is `total`.
 */
export const checkUncovered = (inspection: Inspection): void => {
  const { facts, find, history, model, open, own, say, volumes } = inspection
  const { compiled, ofLayer, ranking } = model
  const rank = ranking.ofLayer[own]
  const outcome = compiled.otherwise[own]
  if (rank === null || rank === undefined || outcome === null || outcome === undefined) return
  const avoid = boxesOf(
    model,
    (rule) => compiled.rules[rule]!.layer === own || severityOf(compiled.rules[rule]!.outcome) >= severityOf(outcome)
  )
  const need = ranking.ofLayer.flatMap((other, layer) => (other !== null && other < rank ? [ofLayer[layer]!] : []))
  const example = volumes?.[rank] === 0n ? null : find("W201", [], { avoid, need })
  if (example === null) return
  if (volumes === null)
    open.push({
      code: "W201",
      rules: [],
      reason: "How many inputs are uncovered was not counted: the diagram grew past its budget."
    })
  const total = facts.envelope?.coverage === "total"
  say(
    "W201",
    [],
    `No rule holds for some inputs, so the default decides them: ${outcome}. ` +
      `${total ? "The envelope promises total coverage; add" : "Add"} a rule for ` +
      `them${total ? "." : ", or leave them to the default on purpose."}`,
    {
      example,
      ...(volumes === null ? {} : { volume: volumes[rank]! }),
      ...(history === null ? {} : { historyCount: history.silent[own]! }),
      ...(total ? { level: "error" as const } : {})
    }
  )
}
