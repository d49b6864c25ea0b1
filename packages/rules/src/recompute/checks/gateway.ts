/**
 * Judges what the gateway witnessed: the cost of a call follows from the tokens and the prices of its model, and a tool
 * call was passed on as its evaluation says. Spec: platform section 8.
 */
import type { DecisionBody } from "@flyball/evidence"
import type { ModelDocument } from "../../models/document.ts"
import { foldModel } from "../../models/fold.ts"
import { costMicroUsd } from "../../models/price.ts"
import type { ReplayRecord } from "../../records/record.ts"
import { GATEWAY_WRITER } from "../../records/writers-of-kinds.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

const wrong = (reason: string): Problem => problem("gateway_mismatch", reason)

/** Most evaluations of tool calls that wait for their decision, which comes soon. */
const MAX_EVALUATIONS = 100_000

/** The models and tool calls of a chain. */
export class GatewayJudge {
  /** The two latest prices of each model: one may change between a call and its record. */
  readonly #prices = new Map<string, ReadonlyArray<ModelDocument>>()
  readonly #outcomes = new Map<string, string>()
  readonly #fromGenesis: boolean

  constructor(fromGenesis: boolean) {
    this.#fromGenesis = fromGenesis
  }

  /** Judges a decision of the gateway, and keeps what it is judged by. */
  take(record: ReplayRecord): Problem | null {
    const { body, kind } = record
    switch (kind) {
      case "model.registered":
      case "model.updated": {
        const id = String(body["model_id"])
        const before = this.#prices.get(id)?.at(-1)
        const now = foldModel(record).body as ModelDocument
        this.#prices.set(id, before === undefined ? [now] : [before, now])
        return null
      }
      case "evaluation.made":
        if (this.#outcomes.size >= MAX_EVALUATIONS) this.#outcomes.clear()
        this.#outcomes.set(String(body["evaluation_id"]), String(body["outcome"]))
        return null
    }
    return body["writer"] === GATEWAY_WRITER ? this.#decision(body as unknown as DecisionBody) : null
  }

  #decision({ capture, evaluation_id: id, kind, model, status, usage }: DecisionBody): Problem | null {
    if (capture !== "mediated") return wrong("What the gateway passed on is mediated.")
    if (kind === "model_call") return this.#cost(model, usage)
    if (kind !== "tool_call") return wrong(`The gateway witnesses calls of models and tools, not ${kind}.`)
    const outcome = id === undefined ? null : this.#outcomes.get(id)
    if (id !== undefined) this.#outcomes.delete(id)
    // An evaluation of a chain before, or one that is not shown.
    if (outcome === undefined) return null
    const isAllowed = outcome === "allow" || outcome === "allow_with_notice"
    return (status === "intended") === isAllowed
      ? null
      : wrong(`A tool call whose verdict is ${outcome ?? "none"} was recorded as ${status}.`)
  }

  #cost(model: string | undefined, usage: DecisionBody["usage"]): Problem | null {
    const stated = usage?.cost_micro_usd ?? null
    const prices = model === undefined ? undefined : this.#prices.get(model)
    if (prices === undefined)
      return stated === null || (!this.#fromGenesis && model?.startsWith("mdl_") === true)
        ? null
        : wrong(`No record before it is the model ${model ?? "of the call"}, and it states a cost.`)
    const costs = prices.map((price) => costMicroUsd(price, usage?.input_tokens ?? 0, usage?.output_tokens ?? 0))
    return costs.includes(stated)
      ? null
      : wrong(`The price of the model gives ${costs.at(-1)}; the record says ${stated}.`)
  }
}
