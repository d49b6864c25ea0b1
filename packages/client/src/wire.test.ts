import type * as Contract from "@flyball/contract"
import { evaluationOutcomes } from "@flyball/contract"
import { assert, describe, it } from "vitest"
import * as Wire from "./wire.ts"

/** Compiles only where every `From` is a `To`. */
const fits = <From extends To, To>(): From | To | undefined => undefined

/** The type with undefined taken out of every member: undefined counts as absent. */
type Given<T> =
  T extends ReadonlyArray<infer Item>
    ? ReadonlyArray<Given<Item>>
    : T extends object
      ? { [Name in keyof T]: Given<Exclude<T[Name], undefined>> }
      : T

/** Members that have a default may be left out of a request. */
type Defaulted = "kind" | "status"

describe("the shapes of the client", () => {
  it("are those of the contract: this file compiles", () => {
    fits<Contract.Agent, Wire.AgentInfo>()
    fits<
      Wire.Registration,
      Omit<Contract.AgentCreate, "org_unit" | "model_ids"> & Pick<Wire.Registration, "org_unit" | "model_ids">
    >()
    fits<keyof Wire.Registration, keyof Contract.AgentCreate>()
    fits<Given<Omit<Wire.Decision, Defaulted> & Required<Pick<Wire.Decision, Defaulted>>>, Contract.DecisionIn>()
    fits<keyof Contract.DecisionIn, keyof Wire.Decision>()
    fits<Wire.Settlement, Contract.SettleIn>()
    fits<Wire.Gap, Contract.CaptureGapIn>()
    fits<keyof Contract.CaptureGapIn, keyof Wire.Gap>()
    fits<Wire.EvaluationRequest, Contract.EvaluationIn>()
    fits<keyof Contract.EvaluationIn, keyof Wire.EvaluationRequest>()
    fits<Contract.Evaluation, Wire.Evaluation>()
    fits<Contract.Review, Wire.Review>()
    fits<
      Omit<Contract.EnvelopesInForce, "effective_tier" | "server_signals">,
      Omit<Wire.EnvelopesInForce, "effective_tier" | "server_signals">
    >()
    fits<Contract.Receipt, Wire.Receipt>()
    fits<Wire.Receipt, Contract.Receipt>()
    // @ts-expect-error: a word that the contract does not have.
    const wrong: Wire.Gap["reason"] = "asleep"
    assert.isString(wrong)
  })

  it("have the contract's outcomes, in its order", () =>
    assert.deepStrictEqual([...Wire.outcomes], [...evaluationOutcomes]))
})
